// What a program needs beside a peer comes with `import Handoff`: identities, offers, discovery, clocks and logs.
@_exported public import HandoffDiscovery
@_exported public import HandoffModel
@_exported public import HandoffSupport
@_exported public import HandoffTransport
