extension Verb {
    /// Reads the arguments that follow the verb's name.
    ///
    /// - Returns: What was given; nil where help was asked for.
    /// - Throws: ``CommandFailure`` with exit code `usage`.
    func parse(_ arguments: [String]) throws(CommandFailure) -> Arguments? {
        var result = Arguments(verb: self)
        var positional: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                positional += rest
                break
            } else if argument.hasPrefix("--") {
                try parseLong(argument.dropFirst(2), &rest, &result)
            } else if argument.hasPrefix("-"), argument != "-" {
                try parseShort(argument.dropFirst(), &rest, &result)
            } else {
                positional.append(argument)
            }
        }
        if result.has("help") { return nil }
        try assign(positional, &result)
        return result
    }

    private func parseLong(
        _ argument: Substring,
        _ rest: inout ArraySlice<String>,
        _ result: inout Arguments
    ) throws(CommandFailure) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = allOptions.first(where: { $0.name == name }) else {
            let suggestion = nearest(to: name, in: allOptions.map(\.name)).map { ": did you mean --\($0)?" }
            throw .usage("unknown option --\(printable(name))\(suggestion ?? "")")
        }
        try set(option, value: parts.count > 1 ? String(parts[1]) : nil, &rest, &result)
    }

    private func parseShort(
        _ letters: Substring,
        _ rest: inout ArraySlice<String>,
        _ result: inout Arguments
    ) throws(CommandFailure) {
        var letters = letters
        while let letter = letters.popFirst() {
            guard let option = allOptions.first(where: { $0.short == letter }) else {
                throw .usage("unknown option -\(printable(String(letter)))")
            }
            if case .flag = option.kind {
                try set(option, value: nil, &rest, &result)
            } else {
                return try set(option, value: letters.isEmpty ? nil : String(letters), &rest, &result)
            }
        }
    }

    private func set(
        _ option: Option,
        value: String?,
        _ rest: inout ArraySlice<String>,
        _ result: inout Arguments
    ) throws(CommandFailure) {
        switch option.kind {
        case .flag:
            guard value == nil else { throw .usage("--\(option.name) takes no value") }
            // Given twice is given.
            if !result.has(option.name) { result.append("", to: option.name) }
            return
        case .value where result.has(option.name):
            throw .usage("--\(option.name) is given twice")
        case .value, .repeated:
            guard let value = value ?? rest.popFirst() else {
                throw .usage("--\(option.name) needs a value: --\(option.name) \(option.placeholder)")
            }
            try check(value, is: option.completion, for: "--\(option.name)")
            result.append(value, to: option.name)
        }
    }

    private func assign(_ values: [String], _ result: inout Arguments) throws(CommandFailure) {
        var rest = values[...]
        for positional in positionals {
            switch positional.kind {
            case .required where rest.isEmpty:
                throw .usage("\(positional.name) is missing")
            case .required, .optional:
                guard let value = rest.popFirst() else { continue }
                try check(value, is: positional.completion, for: positional.name)
                result.append(value, to: positional.name)
            case .variadic:
                while let value = rest.popFirst() {
                    try check(value, is: positional.completion, for: positional.name)
                    result.append(value, to: positional.name)
                }
            }
        }
        if let extra = rest.first {
            throw .usage("“\(printable(extra))” is one argument too many: quote what belongs together")
        }
    }

    private func check(_ value: String, is completion: Completion, for name: String) throws(CommandFailure) {
        guard case .choices(let choices) = completion, !choices.contains(value) else { return }
        let suggestion = nearest(to: value, in: choices).map { ": did you mean \($0)?" }
        throw .usage(
            "\(name) is one of \(choices.joined(separator: ", ")), and not “\(printable(value))”\(suggestion ?? "")"
        )
    }
}

/// The candidate that a mistyped word probably means; nil where none is near.
func nearest(to word: String, in candidates: [String]) -> String? {
    let limit = max(1, min(2, word.count / 3))
    return candidates.map { (name: $0, distance: editDistance(word, $0)) }
        .filter { $0.distance <= limit }
        .min { $0.distance < $1.distance }?
        .name
}

/// How many letters have to be added, removed, changed or swapped with the next one.
private func editDistance(_ left: String, _ right: String) -> Int {
    let left = Array(left.prefix(64))
    let right = Array(right.prefix(64))
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for row in left.indices {
        var current = [row + 1]
        for column in right.indices {
            let change = previous[column] + (left[row] == right[column] ? 0 : 1)
            var best = min(change, previous[column + 1] + 1, current[column] + 1)
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                best = min(best, beforePrevious[column - 1] + 1)
            }
            current.append(best)
        }
        beforePrevious = previous
        previous = current
    }
    return previous[right.count]
}
