"""The questions: what each reads, how much one unit can change it, and by which mechanism it is answered."""
