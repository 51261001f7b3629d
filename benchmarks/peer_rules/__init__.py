"""Other Python packages that search the same trees: their rules, and the comparison.

| module | what |
|---|---|
| ``programs`` | a program that searches, and what it says |
| ``rules`` | tic-tac-toe and Connect Four in plain Python, for packages without games |
| ``packages`` | the searches of easyAI, OpenSpiel and the textbook of Russell and Norvig |
| ``comparison`` | nodes that agree, and CPU time |
"""
