// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The object that asks a predicate made of a format for its tree.
///
/// Foundation's predicates hold nothing but a truth value or a block, and a table
/// beside them would lose copies. So the tree lives in the block, which hands it to
/// whoever evaluates the predicate with a probe.
private final class PredicateProbe: CKRecord, @unchecked Sendable {
    // Sendable: used by one call.
    // A record, because blocks of apps, which are asked too, expect one.
    var answer: PredicateTree?
}

extension PredicateTree {
    /// Returns the tree of a predicate; nil for one made of a block, or nested too deep.
    init?(_ predicate: NSPredicate) {
        self.init(predicate, depth: 0)
        guard hasDepth(upTo: Self.maximumDepth) else { return nil }
    }

    private init?(_ predicate: NSPredicate, depth: Int) {
        guard depth < Self.maximumDepth else { return nil }
        if let own = predicate as? FormatPredicate {
            self = own.tree
        } else if let own = predicate as? FormatCompoundPredicate {
            self = own.tree
        } else if let compound = predicate as? NSCompoundPredicate {
            var parts: [PredicateTree] = []
            for part in compound.subpredicates {
                guard let tree = PredicateTree(part, depth: depth + 1) else { return nil }
                parts.append(tree)
            }
            self = Self.compound(compound.compoundPredicateType, parts)
        } else if let constant = Self.constant(of: predicate) {
            self = .constant(constant)
        } else {
            let probe = PredicateProbe(recordType: "PredicateProbe")
            _ = predicate.evaluate(with: probe)
            guard let tree = probe.answer else { return nil }
            self = tree
        }
    }

    private static func compound(
        _ type: NSCompoundPredicate.LogicalType,
        _ parts: [PredicateTree]
    ) -> PredicateTree {
        switch type {
        case .and: .and(parts)
        case .or: .or(parts)
        case .not: parts.count == 1 ? .not(parts[0]) : .not(.and(parts))
        }
    }

    /// The value of a predicate that does not look at its object; nil for others.
    private static func constant(of predicate: NSPredicate) -> Bool? {
        switch (predicate as any PredicateFormatting).predicateFormat {
        case "TRUEPREDICATE": true
        case "FALSEPREDICATE": false
        default: nil
        }
    }

    /// Returns a block that evaluates the tree, and hands it to probes.
    fileprivate var block: (Any?, [String: Any]?) -> Bool {
        { object, variables in
            if let probe = object as? PredicateProbe {
                probe.answer = self
                return false
            }
            return PredicateEvaluation(object, variables: variables ?? [:]).holds(self)
        }
    }

    /// Returns a predicate of the tree: compound where the tree is.
    var predicate: NSPredicate {
        switch self {
        case .constant(let value): NSPredicate(value: value)
        case .comparison: FormatPredicate(self)
        case .and(let parts): FormatCompoundPredicate(self, .and, parts)
        case .or(let parts): FormatCompoundPredicate(self, .or, parts)
        case .not(let part): FormatCompoundPredicate(self, .not, [part])
        }
    }
}

/// The one way to distinguish a constant predicate from a block without calling the block.
///
/// A protocol because Foundation marks the property deprecated: its text is of no
/// use elsewhere, but exact for constants.
private protocol PredicateFormatting {
    var predicateFormat: String { get }
}

extension NSPredicate: PredicateFormatting {}

/// The initializers that create predicates from formats.
///
/// NB: an initializer of a class makes objects of that class only; an initializer of a protocol may
/// make objects of a subclass. So predicates made from formats keep their format, and are compound
/// if the format is.
public protocol _PredicateCreation {}

extension NSPredicate: _PredicateCreation {}

extension _PredicateCreation {
    /// Creates a predicate from a format, with `args` for `%@`, `%K` and the conversions of
    /// `printf`.
    ///
    /// The syntax is Apple's. A predicate that CloudKit does not support, such as one with `OR`, is
    /// refused when it is used, with `invalidArguments` (QUERY-2 to 7).
    /// See <https://developer.apple.com/documentation/foundation/nspredicate/init(format:_:)>.
    ///
    /// - Precondition: The format is valid. Apple's class raises `NSInvalidArgumentException`,
    ///   which Linux does not have.
    public init(format predicateFormat: String, _ args: any CVarArg...) {
        self.init(format: predicateFormat, argumentArray: args)
    }

    /// Creates a predicate from a format and a list of arguments.
    ///
    /// - Precondition: The format is one.
    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        do {
            self.init(try PredicateParser.parse(predicateFormat, arguments ?? []))
        } catch {
            preconditionFailure(error.description)
        }
    }

    /// Creates a predicate of a tree: compound where the tree is.
    init(_ tree: PredicateTree) {
        guard let predicate = tree.predicate as? Self else {
            preconditionFailure("A format makes an NSPredicate, not a \(Self.self).")
        }
        self = predicate
    }
}

/// A comparison that has its format.
///
/// Equal where the formats are, as Apple's: by what they mean, `PredicateArchive` compares.
private final class FormatPredicate: NSPredicate {
    let tree: PredicateTree

    init(_ tree: PredicateTree) {
        self.tree = tree
        super.init(block: tree.block)
    }

    required init?(coder: NSCoder) { nil }

    override var predicateFormat: String { tree.description }
    override var description: String { tree.description }
    override func copy(with zone: NSZone? = nil) -> Any { self }
    override var hash: Int { tree.description.hashValue }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? FormatPredicate else { return false }
        return tree == other.tree && tree.description == other.tree.description
    }
}

/// A compound of predicates that has its format.
private final class FormatCompoundPredicate: NSCompoundPredicate {
    let tree: PredicateTree

    init(_ tree: PredicateTree, _ type: LogicalType, _ parts: [PredicateTree]) {
        self.tree = tree
        super.init(type: type, subpredicates: parts.map(\.predicate))
    }

    required init?(coder: NSCoder) { nil }

    override var predicateFormat: String { tree.description }
    override var description: String { tree.description }
    override func copy(with zone: NSZone? = nil) -> Any { self }
    override var hash: Int { tree.description.hashValue }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? FormatCompoundPredicate else { return false }
        return tree == other.tree && tree.description == other.tree.description
    }

    override func evaluate(
        with object: Any?,
        substitutionVariables bindings: [String: Any]?
    ) -> Bool {
        PredicateEvaluation(object, variables: bindings ?? [:]).holds(tree)
    }
}
