"""What passes read and may declare: the arguments, other state, the facts of a case, and its model."""
