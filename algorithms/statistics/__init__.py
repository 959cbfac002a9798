"""What is audited."""
