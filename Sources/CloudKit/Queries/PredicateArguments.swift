// SPDX-License-Identifier: Apache-2.0
import Foundation

extension _PredicateCreation {
    /// Creates a predicate from a format and a C list of arguments, as `withVaList` makes it.
    ///
    /// See <https://developer.apple.com/documentation/foundation/nspredicate/init(format:arguments:)>.
    ///
    /// - Precondition: The format is valid, and the list has the arguments that its conversions
    ///   describe: `%d` an `Int32`, `%ld` an `Int`, `%f` a `Double`, `%@` and `%K` an object.
    public init(format predicateFormat: String, arguments argList: CVaListPointer) {
        let arguments: [Any]
        do {
            arguments = try PredicateArguments(predicateFormat).read(argList)
        } catch {
            preconditionFailure(error.description)
        }
        self.init(format: predicateFormat, argumentArray: arguments)
    }
}

/// The arguments a predicate format takes from a C list.
///
/// Swift cannot look into such a list. So C prints all of it, numbers in digits and
/// objects by their addresses, and the texts are read back.
struct PredicateArguments {
    /// What is printed for an argument.
    fileprivate enum Conversion {
        case signed, unsigned, fraction, object, text
    }

    fileprivate struct Argument {
        var conversion: Conversion
        /// The size of a number, such as `ll`.
        var size: String
    }

    /// The most arguments in one format.
    static let maximumCount = 1000

    private var arguments: [Argument] = []

    /// Finds the conversions of a format.
    init(_ format: String) throws(PredicateFormatError) {
        var lexer = PredicateLexer(format)
        while case let token = try lexer.next(), token != .end {
            guard case .argument(let letter, let index) = token else { continue }
            let position = index ?? arguments.count
            guard position < Self.maximumCount else {
                throw lexer.failure("a format has at most \(Self.maximumCount) arguments")
            }
            let size = lexer.spelling.filter { "hlqzjtL".contains($0) }
            let argument = Argument(conversion: Conversion(letter), size: size)
            // What no conversion asks for is passed over as a word of the machine.
            while arguments.count <= position {
                arguments.append(Argument(conversion: .signed, size: "l"))
            }
            arguments[position] = argument
        }
    }

    /// Returns the arguments of a list.
    ///
    /// - Precondition: It holds what the format describes.
    func read(_ list: CVaListPointer) -> [Any] {
        guard !arguments.isEmpty else { return [] }
        let format = arguments.map(\.cFormat).joined(separator: "|")
        // A long double has up to 30 characters, everything else fewer.
        var buffer = [CChar](repeating: 0, count: arguments.count * 64)
        let length = vsnprintf(&buffer, buffer.count, format, list)
        let printed = buffer.prefix(max(0, Int(length))).map { UInt8(bitPattern: $0) }
        let texts = printed.split(separator: UInt8(ascii: "|"))
        return zip(arguments, texts).map { argument, text in
            argument.value(String(decoding: text, as: UTF8.self))
        }
    }
}

extension PredicateArguments.Conversion {
    fileprivate init(_ letter: UInt8) {
        switch letter {
        case UInt8(ascii: "@"), UInt8(ascii: "K"): self = .object
        case UInt8(ascii: "s"): self = .text
        case UInt8(ascii: "u"), UInt8(ascii: "U"), UInt8(ascii: "x"), UInt8(ascii: "X"),
            UInt8(ascii: "o"), UInt8(ascii: "O"):
            self = .unsigned
        default: self = "fFeEgGaA".utf8.contains(letter) ? .fraction : .signed
        }
    }
}

extension PredicateArguments.Argument {
    /// How C prints the argument.
    fileprivate var cFormat: String {
        switch conversion {
        case .signed: "%\(size)d"
        case .unsigned: "%\(size)u"
        case .fraction: "%\(size)a"
        case .object, .text: "%p"
        }
    }

    /// The argument C printed as `text`.
    fileprivate func value(_ text: String) -> Any {
        switch conversion {
        case .signed: return Int64(text) ?? 0
        case .unsigned: return UInt64(text).map { NSNumber(value: $0) } ?? 0
        case .fraction: return Double(text) ?? .nan
        case .object, .text: break
        }
        guard let address = UInt(text.dropFirst(2), radix: 16),
            let pointer = UnsafeRawPointer(bitPattern: address)
        else { return NSNull() }
        if conversion == .text {
            return String(cString: pointer.assumingMemoryBound(to: CChar.self))
        }
        let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
        #if canImport(ObjectiveC)
            return object
        #else
            return (object as? DescribedObject)?.base ?? object
        #endif
    }
}
