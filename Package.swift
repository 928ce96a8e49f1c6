// swift-tools-version: 6.2
import PackageDescription

/// What every target is built with: the Swift 6 language mode's checks, and the upcoming features that keep
/// imports explicit, so that no C type can reach a public signature unnoticed.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func command(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let package = Package(
    name: "handoff",
    products: [
        .library(name: "Handoff", targets: ["Handoff"]),
        .library(name: "CommandLineKit", targets: ["CommandLineKit"]),
        .executable(name: "notes", targets: ["Notes"]),
        .executable(name: "handoff", targets: ["HandoffCommand"]),
        .executable(name: "shopping", targets: ["Shopping"]),
        .executable(name: "contacts", targets: ["Contacts"]),
        .executable(name: "handoff-bench", targets: ["Benchmarks"]),
    ],
    targets: [
        .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CNetlink", providers: [.apt(["linux-libc-dev"])]),
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CSystemd", providers: [.apt(["libsystemd-dev"])]),

        library("HandoffSupport", ["CEpoll"]),
        library("HandoffModel", ["HandoffSupport"]),
        library("HandoffTransport", ["HandoffSupport", "COpenSSL"]),
        library("HandoffDiscovery", ["HandoffSupport", "CAvahi"]),
        library("HandoffRadio", ["HandoffSupport", "CNetlink", "CSystemd"]),
        library(
            "Handoff",
            ["HandoffSupport", "HandoffModel", "HandoffTransport", "HandoffDiscovery", "HandoffRadio"]
        ),
        library("CommandLineKit", []),
        library("NotesKit", ["Handoff", "HandoffSupport", "CSQLite"]),
        command("Notes", ["Handoff", "NotesKit", "CommandLineKit"]),
        command("HandoffCommand", ["Handoff", "CommandLineKit"]),
        command("Shopping", ["Handoff", "CommandLineKit"]),
        command("Contacts", ["Handoff", "CommandLineKit"]),
        command(
            "Benchmarks",
            ["Handoff", "HandoffTransport", "HandoffRadio", "HandoffSupport", "HandoffTestKit", "CommandLineKit"]
        ),
        library("HandoffTestKit", ["Handoff", "HandoffTransport", "NotesKit", "COpenSSL"]),
        .target(
            name: "FuzzTargets",
            dependencies: ["HandoffModel", "HandoffTransport"],
            path: "Tests/fuzz/FuzzTargets",
            swiftSettings: settings
        ),

        tests("HandoffSupportTests", ["HandoffSupport", "HandoffTestKit"]),
        tests("HandoffModelTests", ["HandoffModel", "HandoffTestKit"]),
        tests("HandoffTransportTests", ["HandoffTransport", "HandoffTestKit", "COpenSSL"]),
        tests("HandoffDiscoveryTests", ["HandoffDiscovery", "HandoffTestKit"]),
        tests("HandoffRadioTests", ["HandoffRadio", "HandoffTestKit"]),
        tests("HandoffTests", ["Handoff", "HandoffDiscovery", "HandoffModel", "HandoffTransport", "HandoffTestKit"]),
        tests("CommandLineKitTests", ["CommandLineKit", "HandoffTestKit"]),
        tests("NotesKitTests", ["NotesKit", "HandoffTestKit"]),
        tests("NotesTests", ["Notes", "HandoffTestKit"]),
        tests("ShoppingTests", ["Shopping", "HandoffTestKit"]),
        tests("ContactsTests", ["Contacts", "HandoffTestKit"]),
        tests("FuzzTests", ["FuzzTargets", "HandoffModel", "HandoffTransport", "HandoffTestKit"]),
        tests("LANTests", ["Notes", "HandoffCommand", "Shopping", "Contacts", "HandoffRadio", "HandoffTestKit"]),
    ],
    swiftLanguageModes: [.v6]
)
