"""What an audit or a check found, and its JSON form."""
