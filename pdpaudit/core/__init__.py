"""Claims, mechanisms, statistics and networks, and the privacy loss between two of them."""
