"""The engine as an HTTP and WebSocket service, for programs in any language.

``cutnode serve`` starts it (:mod:`cutnode.cli.serve`).  Only this package needs the dependencies
of the extra ``serve``, and only its module ``mcp`` the one of the extra ``mcp``.

| module | contents |
|---|---|
| ``settings`` | the limits of a service |
| ``models`` | the JSON of every route: requests, answers, events |
| ``games`` | the games, by the names that clients use |
| ``questions`` | from a request to an engine call, and from its result to an answer |
| ``views`` | answers that need no engine: boards, positions, small trees |
| ``pool`` | running and waiting searches, and the memory of their engines |
| ``code`` | the compiled code, and the limit on compiled games |
| ``failures`` | errors as answers |
| ``state`` | the state that all routes share |
| ``app``, ``streams``, ``sockets`` | the routes; streams of JSON lines; WebSocket conversations |
| ``pages``, ``web`` | the board in the browser: its routes and its files |
| ``hosts`` | protection against pages of other sites |
| ``limits`` | protection against large requests and slow clients |
| ``metrics`` | counts and times for Prometheus |
| ``server`` | the process: startup and shutdown |
| ``listening`` | its socket |
| ``mcp`` | the same as tools for language models, without a web application |
"""
