extension Program {
    /// A script that teaches a shell to complete the program's verbs, options and values.
    ///
    /// - Parameter shell: `bash`, `zsh` or `fish`.
    public func completionScript(shell: String) -> String {
        switch shell {
        case "zsh": zshScript
        case "fish": fishScript
        default: bashScript
        }
    }

    /// What may follow the beginning of a verb's name: the words, by the words before them.
    var nextWords: [(before: String, words: [(word: String, summary: String)])] {
        let verbs = allVerbs + [Verb("help", "Show help") { _ in .done }]
        let groups = Set(verbs.filter { $0.words.count > 1 }.map { $0.words[0] }).sorted()
        let singles = verbs.filter { $0.words.count == 1 }.map { (word: $0.name, summary: $0.summary) }
        let first = groups.map { group in
            let names = verbs.filter { $0.words.count > 1 && $0.words[0] == group }.map { $0.words[1] }
            return (word: group, summary: names.joined(separator: ", "))
        }
        let second = groups.map { group in
            let members = verbs.filter { $0.words.count > 1 && $0.words[0] == group }
            return (before: group, words: members.map { (word: $0.words[1], summary: $0.summary) })
        }
        return [(before: "", words: singles + first)] + second
    }

    // MARK: bash

    private var bashScript: String {
        let verbs = allVerbs.map { verb in
            """
                '\(verb.name)' | '\(verb.name) '*)
                    case $previous in
            \(verb.options.filter { $0.kind != .flag }.map(bashValue).joined())        esac
                    if [[ $current == -* ]]; then
                        _\(functionName)_words <<< \(quoted(verb.allOptions.map { "--\($0.name)" }.joined(separator: "\n")))
                        return
                    fi
                    \(bashAction(verb.positionals))
                    ;;

            """
        }
        let words = nextWords.map { before, words in
            "    '\(before)') _\(functionName)_words <<< \(quoted(words.map(\.word).joined(separator: "\n"))) ;;\n"
        }
        return """
            # bash completion for \(name): load it by `source <(\(name) completion bash)`

            _\(functionName)_words() {
                local word
                while IFS= read -r word; do
                    [[ -n $word && $word == "$current"* ]] && COMPREPLY+=("$(printf %q "$word")")
                done
            }

            _\(functionName)() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} before= word
                COMPREPLY=()
                for word in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
                    [[ $word == -* ]] || before+=${before:+ }$word
                done
                case $before in
            \(verbs.joined())\(words.joined())    esac
            }

            complete -F _\(functionName) \(name)

            """
    }

    private func bashValue(_ option: Option) -> String {
        let short = option.short.map { " | -\($0)" } ?? ""
        return "        --\(option.name)\(short)) \(bashAction(option.completion)); return ;;\n"
    }

    /// Bash does not count the values that were given, so each place offers what fits any of them.
    private func bashAction(_ positionals: [Positional]) -> String {
        let actions = positionals.map(\.completion).filter { $0 != .none }.map(bashAction)
        return actions.isEmpty ? ":" : actions.joined(separator: "\n        ")
    }

    private func bashAction(_ completion: Completion) -> String {
        switch completion {
        case .none: ":"
        case .file: "_\(functionName)_words < <(compgen -f -- \"$current\")"
        case .choices(let choices): "_\(functionName)_words <<< \(quoted(choices.joined(separator: "\n")))"
        case .lines(let command): "_\(functionName)_words < <(\(command) 2> /dev/null)"
        }
    }

    // MARK: zsh

    private var zshScript: String {
        let verbs = allVerbs.map { verb in
            let options = verb.allOptions.map(zshOption)
            let positionals = verb.positionals.map { positional in
                let place =
                    switch positional.kind {
                    case .required: ":"
                    case .optional: "::"
                    case .variadic: "*:"
                    }
                return quoted("\(place)\(zshName(positional.name)):\(zshAction(positional.completion))")
            }
            return "        '\(verb.name)') _arguments -s \((options + positionals).joined(separator: " ")) ;;\n"
        }
        let words = nextWords.map { before, words in
            let described = words.map { quoted("\($0.word):\($0.summary)") }.joined(separator: " ")
            return "        '\(before)') candidates=(\(described)) ;;\n"
        }
        return """
            #compdef \(name)
            # zsh completion for \(name): save it as _\(name) in a directory of $fpath

            _\(functionName)_lines() {
                local -a lines
                lines=("${(@f)$(eval "$1" 2> /dev/null)}")
                compadd -a lines
            }

            _\(functionName)() {
                local verb
                local -a parts candidates
                for verb in \(allVerbs.map { quoted($0.name) }.joined(separator: " ")); do
                    parts=(${=verb})
                    (( CURRENT > $#parts + 1 )) && [[ "${words[2,$#parts+1]}" == "$verb" ]] || continue
                    shift $#parts words
                    (( CURRENT -= $#parts ))
                    case $verb in
            \(verbs.joined())        esac
                    return
                done
                case "${words[2,CURRENT-1]}" in
            \(words.joined())    esac
                _describe verb candidates
            }

            if [[ $funcstack[1] == _\(functionName) ]]; then _\(functionName) "$@"; else compdef _\(functionName) \(name); fi

            """
    }

    private func zshOption(_ option: Option) -> String {
        let summary = option.summary.replacing("[", with: "\\[").replacing("]", with: "\\]")
        let value = option.kind == .flag ? "" : ":\(zshName(option.placeholder)):\(zshAction(option.completion))"
        let repeats = option.kind == .repeated ? "*" : ""
        let long = "\(repeats)--\(option.name)\(option.kind == .flag ? "" : "=")[\(summary)]\(value)"
        guard let short = option.short else { return quoted(long) }
        let letter = "\(repeats)-\(short)\(option.kind == .flag ? "" : "+")[\(summary)]\(value)"
        return quoted(long) + " " + quoted(letter)
    }

    /// A colon would end the name.
    private func zshName(_ name: String) -> String { name.replacing(":", with: "\\:") }

    private func zshAction(_ completion: Completion) -> String {
        switch completion {
        case .none: " "
        case .file: "_files"
        case .choices(let choices): "(\(choices.joined(separator: " ")))"
        // The blank keeps _arguments from adding options of compadd.
        case .lines(let command): " _\(functionName)_lines \(quoted(command.replacing(":", with: "\\:")))"
        }
    }

    // MARK: fish

    private var fishScript: String {
        var lines = [
            "# fish completion for \(name): save it as ~/.config/fish/completions/\(name).fish",
            "",
            "function __\(functionName)_at --description 'Whether these words were typed, and with -x no more of the verb'",
            "    argparse x -- $argv",
            "    set -l before (commandline -opc)[2..]",
            "    set -l count (count (string split -n ' ' -- $argv[1]))",
            "    set -q _flag_x; and test (count $before) -ne $count; and return 1",
            "    test $count -eq 0; or test \"$before[1..$count]\" = \"$argv[1]\"",
            "end",
            "",
            "complete -c \(name) -f",
        ]
        for (before, words) in nextWords {
            for (word, summary) in words {
                lines.append(
                    "complete -c \(name) -n \(quoted("__\(functionName)_at -x '\(before)'")) "
                        + "-a \(quoted(word)) -d \(quoted(summary))"
                )
            }
        }
        for verb in allVerbs {
            let condition = "complete -c \(name) -n \(quoted("__\(functionName)_at '\(verb.name)'"))"
            for option in verb.allOptions {
                let short = option.short.map { " -s \($0)" } ?? ""
                let value = option.kind == .flag ? "" : fishValue(option.completion)
                lines.append("\(condition) -l \(option.name)\(short)\(value) -d \(quoted(option.summary))")
            }
            for positional in verb.positionals where positional.completion != .none {
                lines.append(condition + fishAction(positional.completion))
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func fishValue(_ completion: Completion) -> String {
        (completion == .file ? " -r" : " -x") + fishAction(completion)
    }

    private func fishAction(_ completion: Completion) -> String {
        switch completion {
        case .none: ""
        case .file: " -F"
        case .choices(let choices): " -a \(quoted(choices.joined(separator: " ")))"
        case .lines(let command): " -a \(quoted("(\(command) 2> /dev/null)"))"
        }
    }

    // MARK: Quoting

    /// The program's name as a part of a shell function's name.
    private var functionName: String { name.replacing("-", with: "_") }

    /// A word that the shell takes as it is; in fish too, but for backslashes, which no declaration has.
    private func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
