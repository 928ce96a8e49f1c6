public import HandoffSupport

/// Where tests run that block or compute for long, one after the other, as suites that are actors on this executor.
///
/// On Swift's pool, which has one thread a core, they would keep the peers of other tests from their deadlines.
public let blockingTests = QueueExecutor(label: "handoff.tests.blocking")
