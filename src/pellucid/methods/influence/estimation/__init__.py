"""What methods of influence share: the request, models without a row, and what is measured of them."""
