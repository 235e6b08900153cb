// SPDX-License-Identifier: Apache-2.0
package import HTTPTypes
import TidebellCore

/// How much of the server one caller may take, and how much all together.
///
/// A caller is a user, wherever it comes from, or the address of a client without a user. Behind a
/// proxy that is not trusted all come from one address. One of this machine is not counted
/// unless asked to.
package struct ShareLimits: Sendable, Hashable {
    /// The least ``bodyBytes``: half of it, which is for callers without a user, holds the
    /// largest answer.
    package static let leastBodyBytes = 96 * 1024 * 1024
    /// The least ``bodyBytesPerCaller``: the largest request body (``Limits/requestBytes``).
    package static let leastBodyBytesPerCaller = 4 * 1024 * 1024

    /// Whether addresses of this machine are held to what holds for addresses.
    package var countsLoopback = false
    /// Whether pages of the Internet may reach a server in a private network.
    package var opensPrivateNetwork = false
    /// The proxies that name the address a request counts for.
    package var trustedProxies = TrustedProxies()
    /// Connections from one address; nil is half of all. Those of trusted proxies are not
    /// counted by address: all their callers share them.
    package var connectionsPerAddress: Int?
    /// How long a connection may be idle on which nobody has shown a user's token, and how
    /// long it may take for its first request.
    package var strangersIdleTime = Duration.seconds(15)
    /// How long a connection beyond the limit may take to send the head of a request,
    /// which is answered with the reason.
    package var refusalTime = Duration.seconds(2)
    /// How long another connection may be idle.
    package var idleTime = Duration.seconds(75)
    /// Bytes of the head of a request, of its target and its fields.
    package var headBytes = 80 * 1024
    /// How long a request may take to arrive, but for what ``leastBodyRate`` adds.
    package var bodyTime = Duration.seconds(30)
    /// Bytes a second of a request body: so slow a network may be.
    package var leastBodyRate = 8 * 1024
    /// The time over which the rate is measured at which a client takes an answer. A client that
    /// takes nothing for so long is closed by the system: four signs of life of a stream.
    package var answerTime = Duration.seconds(60)
    /// Bytes a second that a client takes of an answer.
    package var leastAnswerRate = 1024
    /// How long the rest of a body that nobody wants is thrown away before the connection closes.
    package var lingerTime = Duration.seconds(30)
    /// How long nothing of it may come.
    package var lingerPause = Duration.seconds(5)
    /// Bytes of the bodies of requests and answers in memory, of all callers; a request has at
    /// most ``Limits/requestBytes``, an answer some more than ``Limits/namedRecordBytes``. Callers
    /// without a user have half of them.
    package var bodyBytes = 256 * 1024 * 1024
    /// Bytes of them of one caller.
    package var bodyBytesPerCaller = 64 * 1024 * 1024
    /// Device streams and courier polls of one caller.
    package var heldRequestsPerCaller = 1000
    /// Polls of one courier.
    package var courierPolls = CourierPolls.mostPerCourier
    /// Files of one caller that come, and as many that go; nil is a quarter of all.
    package var transfersPerCaller: Int?
    /// Sign-ins that wait, some tenths of a second each.
    package var waitingSignIns = SignInLine<Int>.capacity
    /// Wrong passwords for one account from one address in a ``SignInAttempts/window``.
    package var wrongPasswords = SignInAttempts.maximumFailures
    /// Wrong passwords from one address in this time, whatever the account.
    package var wrongPasswordsPerAddress = SignInAttempts.maximumFailuresOfAddress
    /// New users by the sign-in page in an hour, where that is allowed.
    package var signUps = 1000
    /// The same from one address.
    package var signUpsPerAddress = 10
    /// Requests a second of one caller; 0 is no bound, for programs that are server and
    /// client in one.
    package var requestsPerSecond = 0
    /// The seconds of a pause after which a caller may make all requests at once that it
    /// did not make meanwhile.
    package var burstSeconds = 10

    /// Creates the default limits.
    package init() {}

    /// Gives clients so much time for everything: for tests, where a client is as slow as the machine is
    /// busy, and neither idle nor slow on purpose.
    package mutating func giveTime(_ time: Duration) {
        strangersIdleTime = time
        refusalTime = time
        idleTime = time
        bodyTime = time
        answerTime = time
        lingerTime = time
        lingerPause = time
    }
}

extension ShareLimits {
    /// Returns what a connection counts as.
    func counted(_ peer: PeerAddress) -> CountedAddress {
        peer.isLoopback && !countsLoopback ? .nobody : .network(peer.network)
    }

    /// Returns what a request counts as that a connection brought.
    package func counted(_ peer: PeerAddress?, _ headers: HTTPFields) -> CountedAddress {
        guard let peer else { return .nobody }
        return trustedProxies.caller(of: peer, headers).map(counted) ?? .crowd(peer.network)
    }
}
