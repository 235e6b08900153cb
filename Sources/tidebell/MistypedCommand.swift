// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import TidebellCore
import TidebellWire

/// A word in the place of a command that is the name of none, though one is called nearly so.
struct MistypedCommand: CustomStringConvertible {
    /// One sentence for whoever typed it.
    let description: String

    /// Looks for one among the arguments; nil where each word is a command's name, or like none.
    init?(_ arguments: some Sequence<String>) {
        var command: any ParsableCommand.Type = Tidebell.self
        var path = Tidebell._commandName
        for word in arguments {
            let commands = command.configuration.subcommands
            // What begins otherwise is an option; the parser knows what follows it.
            guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            if let next = commands.first(where: { $0._commandName == word }) {
                command = next
                path += " \(word)"
                continue
            }
            guard let near = NearName.of(word, among: commands.map { $0._commandName }) else {
                return nil
            }
            description =
                "Error: There is no command '\(path) \(WireError.shortened(word))'. "
                + "Did you mean `\(path) \(near)`?"
            return
        }
        return nil
    }
}
