"""The dice: each function draws from exactly the law its docstring states; beside it stand its pmf and cdf."""
