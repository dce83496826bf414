"""What passes read and may declare: the arguments, their state, the facts of a case, and its model."""
