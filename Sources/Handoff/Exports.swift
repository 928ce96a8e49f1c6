// A program imports Handoff alone: what stands in its signatures comes with it.
@_exported public import HandoffDiscovery
@_exported public import HandoffModel
@_exported public import HandoffRadio
@_exported public import HandoffSupport
@_exported public import HandoffTransport
