import COpenSSL

/// Bytes on their way between a socket and OpenSSL, in memory that is given back when it is empty.
///
/// It stands where OpenSSL's own memory BIO could, which never gives memory back, and needs one more copy because its
/// bytes cannot be filled and sent in place.
final class ByteQueue {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    private var start = 0
    private var end = 0

    deinit { memory?.deallocate() }

    /// How many bytes wait.
    var count: Int { end - start }

    /// The bytes that wait, lent until the queue is changed.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.map { UnsafeRawPointer($0) + start }, count: count)
    }

    /// Adds bytes.
    func append(_ bytes: UnsafeRawBufferPointer) {
        fill(atMost: bytes.count) { space in
            UnsafeMutableRawBufferPointer(rebasing: space[..<bytes.count]).copyMemory(from: bytes)
            return bytes.count
        }
    }

    /// Adds the bytes that `body` puts into the space it is lent.
    ///
    /// - Parameters:
    ///   - count: How much space `body` needs.
    ///   - body: Returns how many bytes it has put there.
    func fill(atMost count: Int, _ body: (UnsafeMutableRawBufferPointer) -> Int) {
        guard count > 0 else { return }
        let memory = reserve(count)
        let added = body(UnsafeMutableRawBufferPointer(start: memory + end, count: count))
        precondition((0...count).contains(added), "more bytes than there was space for")
        end += added
    }

    /// Takes bytes away from the front.
    func drop(_ count: Int) {
        precondition(count <= self.count, "more bytes than there are")
        start += count
        if start == end { (start, end) = (0, 0) }
    }

    /// Gives the memory back if no byte waits in it.
    func releaseIfEmpty() {
        guard count == 0 else { return }
        memory?.deallocate()
        memory = nil
        capacity = 0
    }

    private func reserve(_ extra: Int) -> UnsafeMutableRawPointer {
        if let memory, capacity - end >= extra { return memory }
        let waiting = count
        if let memory, capacity - waiting >= extra, start >= waiting {
            memory.copyMemory(from: memory + start, byteCount: waiting)
            (start, end) = (0, waiting)
            return memory
        }
        let larger = max(waiting + extra, capacity * 2, 4096)
        let copy = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        copy.copyMemory(from: bytes)
        memory?.deallocate()
        memory = copy
        capacity = larger
        (start, end) = (0, waiting)
        return copy
    }
}

extension UnsafeMutableRawPointer {
    fileprivate func copyMemory(from bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        copyMemory(from: source, byteCount: bytes.count)
    }
}

extension ByteQueue {
    /// Makes the table of functions by which OpenSSL uses a queue; the caller frees it after all connections.
    static func makeMethod() -> OpaquePointer {
        guard let method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "handoff byte queue") else {
            preconditionFailure("out of memory")
        }
        BIO_meth_set_read(method, readCallback)
        BIO_meth_set_write(method, writeCallback)
        BIO_meth_set_ctrl(method, controlCallback)
        return method
    }

    /// Makes a BIO over this queue, which must outlive it; the caller owns it.
    func makeBIO(_ method: OpaquePointer) -> OpaquePointer? {
        guard let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    /// Takes up to `count` bytes; nil where none wait.
    fileprivate func take(_ count: Int, into target: UnsafeMutableRawPointer) -> Int? {
        let taken = min(count, self.count)
        guard taken > 0 else { return nil }
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
        drop(taken)
        return taken
    }
}

private func queue(of bio: OpaquePointer?) -> ByteQueue? {
    BIO_get_data(bio).map { Unmanaged<ByteQueue>.fromOpaque($0).takeUnretainedValue() }
}

private func readCallback(_ bio: OpaquePointer?, _ target: UnsafeMutablePointer<CChar>?, _ count: CInt) -> CInt {
    BIO_clear_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
    guard let queue = queue(of: bio), let target, count > 0 else { return 0 }
    if let taken = queue.take(Int(count), into: target) { return CInt(taken) }
    BIO_set_flags(bio, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
    return -1
}

private func writeCallback(_ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: CInt) -> CInt {
    guard let queue = queue(of: bio), let bytes, count > 0 else { return 0 }
    queue.append(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    return count
}

private func controlCallback(_: OpaquePointer?, _ command: CInt, _: CLong, _: UnsafeMutableRawPointer?) -> CLong {
    command == BIO_CTRL_FLUSH ? 1 : 0
}
