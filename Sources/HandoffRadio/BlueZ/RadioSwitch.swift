import Glibc

/// The kernel's switch for radios (rfkill), which a key or an airplane mode turns.
enum RadioSwitch {
    /// Whether all Bluetooth adapters that are there are switched off.
    ///
    /// - Parameter directory: Where the kernel shows them (Documentation/ABI/stable/sysfs-class-rfkill).
    static func isBluetoothBlocked(in directory: String = "/sys/class/rfkill") -> Bool {
        guard let listing = opendir(directory) else { return false }
        defer { closedir(listing) }
        var states: [Bool] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let path = "\(directory)/\(name)"
            guard firstByte("\(path)/type") == UInt8(ascii: "b") else { continue }
            let one = UInt8(ascii: "1")
            states.append(firstByte("\(path)/soft") == one || firstByte("\(path)/hard") == one)
        }
        return !states.isEmpty && states.allSatisfy { $0 }
    }

    /// "bluetooth" is the only type that begins with a b; the other two files hold 0 or 1.
    private static func firstByte(_ path: String) -> UInt8? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) == 1 ? byte : nil
    }
}
