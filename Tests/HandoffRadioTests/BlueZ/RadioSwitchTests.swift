import Foundation
import HandoffTestKit
import Testing

@testable import HandoffRadio

struct RadioSwitchTests {
    @Test(
        "Bluetooth is blocked where every switch of that kind is off",
        arguments: [
            ([], false),
            (["wlan 1 0"], false),
            (["bluetooth 0 0"], false),
            (["bluetooth 1 0"], true),
            (["bluetooth 0 1", "wlan 0 0"], true),
            (["bluetooth 1 0", "bluetooth 0 0"], false),
        ] as [([String], Bool)]
    )
    func blocked(switches: [String], isBlocked: Bool) throws {
        try withTemporaryDirectory { directory in
            for (number, entry) in switches.enumerated() {
                let path = "\(directory)/rfkill\(number)"
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                let values = zip(["type", "soft", "hard"], entry.split(separator: " "))
                for (name, value) in values {
                    try Data("\(value)\n".utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
                }
            }
            #expect(RadioSwitch.isBluetoothBlocked(in: directory) == isBlocked)
        }
        #expect(!RadioSwitch.isBluetoothBlocked(in: "/nowhere"))
    }
}
