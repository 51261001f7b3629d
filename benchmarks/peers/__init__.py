"""Other programs to compare with the engine, if they are installed.

| module | contents |
|---|---|
| ``engines`` | solvers and engines that are called, or driven by UCI |
| ``programs`` | a Python program that searches, and its results |
| ``rules`` | tic-tac-toe and Connect Four in plain Python, for packages without games |
| ``packages`` | the searches of easyAI, OpenSpiel and the textbook of Russell and Norvig |
| ``comparison`` | the same trees in all of them: agreement of nodes, and CPU time |
"""
