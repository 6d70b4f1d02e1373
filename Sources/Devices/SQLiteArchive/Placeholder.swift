// Furnished later.
