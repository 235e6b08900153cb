// @ts-check
// SPDX-License-Identifier: Apache-2.0
/**
 * The Tidebell client for web pages: CloudKit's containers, databases, records, zones,
 * subscriptions, pushes, shares and sign-in, in one module without dependencies.
 *
 *     import { Container } from 'https://cloud.example/tidebell.js';
 *
 *     const container = new Container({
 *         containerIdentifier: 'iCloud.org.example.notes',
 *         environment: 'development',
 *         apiToken: '…',
 *     });
 *     const user = await container.fetchCurrentUser() ?? await container.signIn();
 *     const notes = container.privateCloudDatabase;
 *     await notes.saveRecordZone('Notes');
 *     const note = await notes.save(
 *         { recordType: 'Note', fields: { title: { value: 'Hello' } } }, { zoneID: 'Notes' });
 *
 * What is passed and returned are the dictionaries of CloudKit Web Services. In what is saved, the
 * value of a field may also be a `Date`, a `bigint`, a `Uint8Array` or a `Blob`: it becomes a
 * TIMESTAMP, an INT64, BYTES or an ASSET, whose file is uploaded first.
 *
 * A method for one item throws a {@link CloudError}. A method for several returns one result for
 * each, in their order, where a `CloudError` is the result of an item that failed. All methods
 * take `signal`, an `AbortSignal`. A request that got no answer, or was asked to come again later,
 * is sent again a few times; a save that was sent again is done once.
 */

/** How often a request is sent at most. */
const MOST_ATTEMPTS = 4;
/** The longest wait before a request is sent again, in ms; who is to wait longer gets the error. */
const LONGEST_RETRY_WAIT = 20_000;
/** How long an answer may take, in ms. */
const REQUEST_TIME = 60_000;
/** How long a file may take, in ms. */
const FILE_TIME = 15 * 60_000;
/** How long a poll may take, in ms: the server holds it for 55 seconds. */
const POLL_TIME = 90_000;
/** The longest wait before the next poll, in ms, while the server cannot be reached. */
const LONGEST_POLL_WAIT = 60_000;
/** How long somebody has to sign in, in ms. */
const SIGN_IN_TIME = 15 * 60_000;
/** The most items of a request. */
const MOST_ITEMS = 200;
/** How often a save is merged and sent again when others keep changing the record. */
const MOST_MERGES = 5;
/** What stands for the URL of a courier that the server does not know any more. */
const GONE = 'gone';
/** The zone that every database has. */
export const DEFAULT_ZONE = '_defaultZone';

/** @typedef {'public' | 'private' | 'shared'} DatabaseScope */
/** @typedef {'development' | 'production'} Environment */
/** @typedef {{ zoneName: string, ownerRecordName?: string, zoneType?: string }} ZoneID */
/**
 * The name of one of the user's own zones, or the whole ID.
 * @typedef {string | ZoneID} ZoneName
 */
/** @typedef {{ value?: any, type?: string, isEncrypted?: boolean }} Field */
/** @typedef {{ timestamp: number, userRecordName?: string, deviceID?: string }} Moment */
/**
 * @typedef {object} Participant
 * @property {UserIdentity} [userIdentity]
 * @property {string} [participantId]
 * @property {'READ_ONLY' | 'READ_WRITE' | 'NONE' | 'UNKNOWN'} [permission]
 * @property {string} [type]
 * @property {string} [acceptanceStatus]
 */
/**
 * A record, or what is to be saved of one.
 * @typedef {object} CloudRecord
 * @property {string} [recordName] without one, the server makes a new name
 * @property {string} [recordType]
 * @property {string} [recordChangeTag] of the version that is known; absent for a new record
 * @property {Record<string, Field>} [fields]
 * @property {Moment} [created]
 * @property {Moment} [modified]
 * @property {boolean} [deleted]
 * @property {ZoneID} [zoneID]
 * @property {{ recordName: string } | null} [parent]
 * @property {string} [shortGUID]
 * @property {{ recordName: string, zoneID: ZoneID }} [share]
 * @property {'NONE' | 'READ_ONLY' | 'READ_WRITE'} [publicPermission]
 * @property {Participant[]} [participants]
 * @property {Participant} [currentUserParticipant]
 */
/**
 * A record that was saved, found or changed.
 * @typedef {CloudRecord & { recordName: string, fields: Record<string, Field> }} StoredRecord
 */
/** @typedef {{ zoneID: ZoneID, syncToken?: string, atomic?: boolean, deleted?: boolean }} Zone */
/**
 * @typedef {object} Filter
 * @property {string} comparator such as `EQUALS`
 * @property {string} [fieldName]
 * @property {string} [systemFieldName]
 * @property {Field} fieldValue
 * @property {number} [distance] metres, of `NEAR`
 */
/**
 * @typedef {object} Sort
 * @property {string} [fieldName]
 * @property {string} [systemFieldName]
 * @property {boolean} [ascending]
 * @property {object} [relativeLocation]
 */
/** @typedef {{ recordType: string, filterBy?: Filter[], sortBy?: Sort[] }} Query */
/**
 * @typedef {object} Subscription
 * @property {string} [subscriptionID]
 * @property {'query' | 'zone' | 'database'} subscriptionType
 * @property {Query} [query]
 * @property {ZoneID} [zoneID]
 * @property {boolean} [zoneWide]
 * @property {('create' | 'update' | 'delete')[]} [firesOn]
 * @property {boolean} [firesOnce]
 * @property {Record<string, any>} [notificationInfo]
 */
/**
 * @typedef {object} UserIdentity
 * @property {string} [userRecordName]
 * @property {Record<string, string>} [nameComponents]
 * @property {LookupInfo} [lookupInfo]
 */
/** @typedef {{ emailAddress?: string, phoneNumber?: string, userRecordName?: string }} LookupInfo */
/**
 * @typedef {object} ShareMetadata
 * @property {{ value: string }} shortGUID
 * @property {string} containerIdentifier
 * @property {string} databaseScope `PRIVATE` for the owner, else `SHARED`
 * @property {ZoneID} zoneID
 * @property {string} [rootRecordName]
 * @property {StoredRecord} [rootRecord]
 * @property {StoredRecord} share
 * @property {UserIdentity} ownerIdentity
 * @property {string} participantPermission
 * @property {string} participantStatus
 * @property {string} participantType
 */
/** @typedef {{ fileChecksum: string, size: number, downloadURL?: string, receipt?: string }} Asset */
/** @typedef {{ signal?: AbortSignal }} Options */
/** @typedef {Options & { zoneID?: ZoneName }} ZoneOptions */
/** @typedef {{ desiredKeys?: string[], numbersAsStrings?: boolean }} KeyOptions */
/**
 * @typedef {object} SaveChoices
 * @property {'ifServerRecordUnchanged' | 'changedKeys' | 'allKeys'} [savePolicy] the default, which
 *     a record's change tag is needed for, refuses a record that others have changed with
 *     `CONFLICT`; `changedKeys` merges the fields given into whatever there is, `allKeys` replaces it
 * @property {boolean} [atomic] whether all or none are saved; true unless set, where the zone can
 */
/** @typedef {ZoneOptions & KeyOptions & SaveChoices} SaveOptions */
/** @typedef {ZoneOptions & KeyOptions & { zoneWide?: boolean, resultsLimit?: number, cursor?: string }} QueryOptions */
/**
 * @typedef {object} Configuration
 * @property {string} containerIdentifier
 * @property {string} apiToken
 * @property {Environment} [environment] `development` unless set
 * @property {string} [serverURL] where the server is; where this module came from unless set
 * @property {'local' | 'session' | 'none'} [persistence] how long somebody stays signed in: in all
 *     tabs until they sign out, which is the default, in this tab, or until the page is left
 */

/** What failed, and what is known about it. */
export class CloudError extends Error {
    /**
     * @param {Record<string, any>} parts the members of an error as the server sends it
     * @param {number} [status]
     */
    constructor(parts, status) {
        super(`${parts.serverErrorCode}: ${parts.reason ?? 'no reason was given'}`);
        this.name = 'CloudError';
        /** CloudKit's code, such as `CONFLICT`, or one of this module: `NETWORK_ERROR`,
         * `SERVICE_UNAVAILABLE`, `UNEXPECTED_SERVER_RESPONSE`, `INVALID_ARGUMENTS`,
         * `SIGN_IN_FAILED`.
         * @type {string} */
        this.serverErrorCode = parts.serverErrorCode;
        /** What is wrong, in a sentence for developers.
         * @type {string} */
        this.reason = parts.reason ?? '';
        /** After how many seconds it may be tried again.
         * @type {number | undefined} */
        this.retryAfter = parts.retryAfter;
        /** The name of the request in the server's log.
         * @type {string | undefined} */
        this.uuid = parts.uuid;
        /** Where to sign in.
         * @type {string | undefined} */
        this.redirectURL = parts.redirectURL;
        /** The HTTP status; undefined for an item, and where no answer came.
         * @type {number | undefined} */
        this.status = status;
        /** @type {string | undefined} */
        this.recordName = parts.recordName;
        /** @type {ZoneID | undefined} */
        this.zoneID = parts.zoneID;
        /** @type {string | undefined} */
        this.subscriptionID = parts.subscriptionID;
        /** @type {string | undefined} */
        this.shortGUID = parts.shortGUID?.value;
        /** The record that could not be saved, as it was given.
         * @type {CloudRecord | undefined} */
        this.record = undefined;
        /** The record that the server has instead; of `CONFLICT` and `EXISTS`.
         * @type {StoredRecord | undefined} */
        this.serverRecord = undefined;
    }

    /** Whether the same may succeed later. */
    get isRetriable() {
        return ['NETWORK_ERROR', 'SERVICE_UNAVAILABLE', 'THROTTLED', 'TRY_AGAIN_LATER', 'ZONE_BUSY']
            .includes(this.serverErrorCode);
    }
}

/**
 * @param {string} serverErrorCode
 * @param {string} reason
 */
const failure = (serverErrorCode, reason) => new CloudError({ serverErrorCode, reason });

/**
 * Makes an error of an item that is one.
 * @param {any} item
 */
const result = (item) => item?.serverErrorCode ? new CloudError(item) : item;

/**
 * Returns the only result, or throws it.
 * @template T
 * @param {(T | CloudError)[]} results
 * @returns {T}
 */
function only(results) {
    const [first] = results;
    if (first instanceof CloudError) throw first;
    if (first === undefined) {
        throw failure('UNEXPECTED_SERVER_RESPONSE', 'the answer has no result');
    }
    return first;
}

/**
 * @template T
 * @param {T[]} items
 * @returns {T[][]} the items in groups that one request can have
 */
function inGroups(items) {
    const groups = [];
    for (let start = 0; start < items.length; start += MOST_ITEMS) {
        groups.push(items.slice(start, start + MOST_ITEMS));
    }
    return groups;
}

/**
 * @param {ZoneName} zone
 * @returns {ZoneID}
 */
const zoneIDOf = (zone) => typeof zone === 'string' ? { zoneName: zone } : zone;

/** A new UUID; pages that were not loaded safely have no `crypto.randomUUID`. */
function makeUUID() {
    if (crypto.randomUUID) return crypto.randomUUID();
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * Waits; ends early, with its reason, when the signal is aborted.
 * @param {number} milliseconds
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
function wait(milliseconds, signal) {
    return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const stop = () => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', stop);
            resolve();
        }, milliseconds);
        signal?.addEventListener('abort', stop, { once: true });
    });
}

/**
 * Fetches within a time; the body belongs to the answer and has the same time.
 * @template T
 * @param {string} url
 * @param {RequestInit} init
 * @param {number} time
 * @param {AbortSignal | undefined} signal
 * @param {(response: Response) => Promise<T>} read
 * @returns {Promise<T>}
 */
async function fetchWithin(url, init, time, signal, read) {
    const ending = new AbortController();
    const stop = () => ending.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    const timer = setTimeout(
        () => ending.abort(failure('NETWORK_ERROR', `no answer came in ${time / 1000} s`)), time);
    try {
        const plain = { credentials: /** @type {const} */ ('omit'), signal: ending.signal };
        return await read(await fetch(url, { ...init, ...plain }));
    } catch (error) {
        if (error instanceof CloudError) throw error;
        if (ending.signal.aborted) throw ending.signal.reason;
        throw failure('NETWORK_ERROR', `the server cannot be reached: ${error}`);
    } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', stop);
    }
}

/**
 * Reads the JSON of an answer; fails with the error that the server answered.
 * @param {Response} response
 * @returns {Promise<any>}
 */
async function readAnswer(response) {
    const text = await response.text();
    let answer;
    try {
        answer = JSON.parse(text || '{}');
    } catch {
        answer = undefined;
    }
    if (response.ok && answer !== undefined) return answer;
    const retryAfter = Number(response.headers.get('Retry-After')) || undefined;
    const uuid = response.headers.get('X-Apple-Request-UUID') ?? undefined;
    if (answer?.serverErrorCode) {
        throw new CloudError({ retryAfter, uuid, ...answer }, response.status);
    }
    throw new CloudError({
        serverErrorCode: response.status >= 500 ? 'SERVICE_UNAVAILABLE' : 'UNEXPECTED_SERVER_RESPONSE',
        reason: `the answer with status ${response.status} is not one of CloudKit`,
        retryAfter, uuid,
    }, response.status);
}

/** Keeps texts for a container: in this page, this tab or this browser. */
class Memory {
    /** @type {Map<string, string>} */
    #own = new Map();
    /** @type {Storage | undefined} */
    #storage;
    #prefix;

    /**
     * @param {string} prefix
     * @param {'local' | 'session' | 'none'} persistence
     */
    constructor(prefix, persistence) {
        this.#prefix = prefix;
        try {
            if (persistence === 'local') this.#storage = localStorage;
            if (persistence === 'session') this.#storage = sessionStorage;
        } catch {
            // The browser forbids it: what is kept ends with the page.
        }
    }

    /** @param {string} name */
    get(name) {
        return (this.#storage ? this.#storage.getItem(this.#prefix + name) : this.#own.get(name))
            ?? undefined;
    }

    /**
     * @param {string} name
     * @param {string | undefined} value nothing removes it
     */
    set(name, value) {
        if (!this.#storage) {
            if (value === undefined) this.#own.delete(name);
            else this.#own.set(name, value);
        } else if (value === undefined) {
            this.#storage.removeItem(this.#prefix + name);
        } else {
            this.#storage.setItem(this.#prefix + name, value);
        }
    }

    /**
     * Whether an event of the browser tells that another tab changed this.
     * @param {StorageEvent} event
     * @param {string} name
     */
    isChange(event, name) {
        return event.storageArea === this.#storage && this.#storage !== undefined
            && (event.key === this.#prefix + name || event.key === null);
    }
}

/**
 * An app's container, as its user sees it.
 *
 * Events: `signin` and `signout`, also when that happens in another tab; `notification`, an
 * {@link CloudNotification} as `detail`; `notificationsmissed`, when pushes may have been lost, so that
 * changes are to be fetched without one; `change`, an {@link OwnChange} as `detail`.
 */
export class Container extends EventTarget {
    #apiToken;
    #memory;
    /** @type {string | undefined} */
    #redirectURL;
    #push;

    /** @param {Configuration} configuration */
    constructor(configuration) {
        super();
        const { containerIdentifier, apiToken, environment = 'development' } = configuration;
        if (!containerIdentifier || !apiToken) {
            throw failure('INVALID_ARGUMENTS', 'a container needs containerIdentifier and apiToken');
        }
        /** @readonly */
        this.containerIdentifier = containerIdentifier;
        /** @readonly
         * @type {Environment} */
        this.environment = environment;
        /** Where the server is, without a slash at the end.
         * @readonly */
        this.serverURL = (configuration.serverURL ?? new URL('.', import.meta.url).href)
            .replace(/\/+$/, '');
        this.#apiToken = apiToken;
        const name = `tidebell ${this.serverURL} ${containerIdentifier} ${environment} `;
        const persistence = configuration.persistence ?? 'local';
        this.#memory = new Memory(name, persistence);
        /** @readonly */
        this.publicCloudDatabase = new Database(this, 'public');
        /** @readonly */
        this.privateCloudDatabase = new Database(this, 'private');
        /** @readonly */
        this.sharedCloudDatabase = new Database(this, 'shared');
        this.#push = new PushChannel(this, this.#memory, name, persistence === 'local');
        globalThis.addEventListener?.('storage', (event) => {
            if (!this.#memory.isChange(event, 'webAuthToken')) return;
            // A token that follows another is no news.
            if (event.key !== null && Boolean(event.oldValue) === Boolean(event.newValue)) return;
            this.#push.restart();
            this.dispatchEvent(new Event(this.#webAuthToken ? 'signin' : 'signout'));
        });
    }

    /** @param {DatabaseScope} scope */
    database(scope) {
        const databases = {
            public: this.publicCloudDatabase, private: this.privateCloudDatabase,
            shared: this.sharedCloudDatabase,
        };
        return databases[scope];
    }

    /** The ID of this browser: what a page of it saves is not told to the others by a push.
     * @returns {string} */
    get clientID() {
        let clientID = this.#memory.get('clientId');
        if (!clientID) {
            clientID = makeUUID();
            this.#memory.set('clientId', clientID);
        }
        return clientID;
    }

    get #webAuthToken() {
        return this.#memory.get('webAuthToken');
    }

    /** Whether somebody is signed in, as far as is known without asking. */
    get isSignedIn() {
        return this.#webAuthToken !== undefined;
    }

    /**
     * Sends a request: what the other methods do, and for endpoints that have none.
     *
     * @param {string} path what follows the environment, such as `private/records/query`
     * @param {object} [body]
     * @param {Options & { root?: 'database' | 'device' | 'ext', isWrite?: boolean }} options a
     *     write is named, so that the server does it once however often it is sent
     * @returns {Promise<any>} the JSON of the answer
     */
    async send(path, body = {}, { root = 'database', isWrite = false, signal } = {}) {
        /** @type {Record<string, string>} */
        const headers = { 'Content-Type': 'text/plain' };
        if (isWrite) headers['X-Tidebell-Request-ID'] = makeUUID();
        const text = JSON.stringify(body);
        for (let attempt = 1; ; attempt += 1) {
            try {
                return await this.#sendOnce(`${root}/1`, path, text, headers, signal);
            } catch (error) {
                if (!(error instanceof CloudError) || !error.isRetriable) throw error;
                // Without a user, no write can be named.
                if (isWrite && !this.isSignedIn && error.serverErrorCode === 'NETWORK_ERROR') throw error;
                const pause = (error.retryAfter ?? 0) * 1000 || 500 * 2 ** attempt * (0.5 + Math.random());
                if (attempt === MOST_ATTEMPTS || pause > LONGEST_RETRY_WAIT) throw error;
                await wait(pause, signal);
            }
        }
    }

    /**
     * @param {string} root
     * @param {string} path
     * @param {string} body
     * @param {Record<string, string>} headers
     * @param {AbortSignal | undefined} signal
     */
    async #sendOnce(root, path, body, headers, signal) {
        const token = this.#webAuthToken;
        const parameters = new URLSearchParams({ ckAPIToken: this.#apiToken, clientId: this.clientID });
        if (token) parameters.set('ckWebAuthToken', token);
        const url = `${this.serverURL}/${root}/${encodeURIComponent(this.containerIdentifier)}/`
            + `${this.environment}/${path}?${parameters}`;
        try {
            return await fetchWithin(
                url, { method: 'POST', headers, body }, REQUEST_TIME, signal, (response) => {
                    const next = response.headers.get('X-Apple-CloudKit-Web-Auth-Token');
                    // Somebody else may have signed in meanwhile.
                    if (next && token && this.#webAuthToken === token) {
                        this.#memory.set('webAuthToken', next);
                    }
                    return readAnswer(response);
                });
        } catch (error) {
            if (error instanceof CloudError && error.serverErrorCode === 'AUTHENTICATION_REQUIRED') {
                this.#redirectURL = error.redirectURL ?? this.#redirectURL;
                if (token && this.#webAuthToken === token) this.#forget();
            }
            throw error;
        }
    }

    // --- Who is signed in

    /**
     * Returns the user who is signed in; nothing for nobody. Call it when the page starts: it also
     * finds out where to sign in.
     * @param {Options} [options]
     * @returns {Promise<UserIdentity | undefined>}
     */
    async fetchCurrentUser(options) {
        try {
            return await this.send('public/users/caller', {}, options);
        } catch (error) {
            if (error instanceof CloudError && error.serverErrorCode === 'AUTHENTICATION_REQUIRED') {
                return undefined;
            }
            throw error;
        }
    }

    /**
     * Lets the user sign in on the server's page, in a window of its own. Call it when a button is
     * pressed: browsers open no window otherwise.
     * @param {Options} options
     * @returns {Promise<UserIdentity>} who signed in
     */
    async signIn({ signal } = {}) {
        // The window is opened at once, before anything is waited for: later it would be none
        // that the user asked for.
        const page = globalThis.open(this.#redirectURL ?? 'about:blank', '_blank', 'popup,width=480,height=640');
        if (!page) throw failure('SIGN_IN_FAILED', 'the browser did not open a window');
        try {
            if (!this.#redirectURL) page.location.href = await this.#findSignIn(signal);
            this.#remember(await this.#tokenFrom(page, signal));
        } finally {
            page.close();
        }
        return this.#welcome(signal);
    }

    /**
     * Leaves this page for the server's, which comes back to the URL that the API token names; there
     * {@link completeSignIn} is called.
     * @param {Options} options
     */
    async signInByRedirect({ signal } = {}) {
        const url = this.#redirectURL ?? await this.#findSignIn(signal);
        sessionStorage.setItem(`tidebell sign-in ${this.containerIdentifier}`, String(Date.now()));
        location.assign(url);
    }

    /**
     * Takes the token that the server's page added to the URL of this one, and removes it there.
     * @param {Options} options
     * @returns {Promise<UserIdentity | undefined>} who signed in; nothing where nobody did
     */
    async completeSignIn({ signal } = {}) {
        const url = new URL(location.href);
        const token = url.searchParams.get('ckWebAuthToken') ?? url.searchParams.get('ckSession');
        if (!token) return undefined;
        url.searchParams.delete('ckWebAuthToken');
        url.searchParams.delete('ckSession');
        history.replaceState(history.state, '', url);
        // A link that somebody else made signs nobody in: this tab asked for it, or it is ignored.
        const key = `tidebell sign-in ${this.containerIdentifier}`;
        const asked = Number(sessionStorage.getItem(key));
        sessionStorage.removeItem(key);
        if (!asked || Date.now() - asked > SIGN_IN_TIME) return undefined;
        this.#remember(token);
        return this.#welcome(signal);
    }

    /**
     * Signs in with a password that the page asked for itself.
     * @param {string} user
     * @param {string} password
     * @param {Options} [options]
     * @returns {Promise<UserIdentity>}
     */
    async signInWithPassword(user, password, options) {
        // Without the token of whoever is signed in: it is not theirs to decide.
        this.#forget();
        const answer = await this.send('account/signIn', { user, password }, { ...options, root: 'ext' });
        this.#remember(answer.webAuthToken);
        return this.#welcome(options?.signal);
    }

    /**
     * Signs in with a web token that was got elsewhere.
     * @param {string} webAuthToken
     * @param {Options} [options]
     * @returns {Promise<UserIdentity>}
     */
    async signInWithToken(webAuthToken, options) {
        this.#remember(webAuthToken);
        return this.#welcome(options?.signal);
    }

    /**
     * Ends the session, on the server too, and with it the pushes.
     * @param {Options} [options]
     */
    async signOut(options) {
        if (!this.isSignedIn) return;
        try {
            await this.send('account/signOut', {}, { ...options, root: 'ext', isWrite: true });
        } catch (error) {
            // A session that is over is what was wanted.
            if (!(error instanceof CloudError) || error.status !== 421) throw error;
        } finally {
            this.#forget();
        }
    }

    /** @param {AbortSignal | undefined} signal */
    async #findSignIn(signal) {
        if (await this.fetchCurrentUser({ signal }) === undefined && this.#redirectURL) {
            return this.#redirectURL;
        }
        throw failure('SIGN_IN_FAILED', 'somebody is signed in already, or the server has no sign-in page');
    }

    /**
     * Waits for the message of the sign-in page.
     * @param {Window} page
     * @param {AbortSignal | undefined} signal
     * @returns {Promise<string>}
     */
    #tokenFrom(page, signal) {
        const origin = new URL(this.#redirectURL ?? this.serverURL).origin;
        return new Promise((resolve, reject) => {
            const end = new AbortController();
            /** @param {MessageEvent} event */
            const receive = (event) => {
                if (event.source !== page || event.origin !== origin) return;
                const token = event.data?.ckWebAuthToken ?? event.data?.ckSession;
                if (typeof token === 'string') resolve(token);
                else if (event.data?.errorMessage) {
                    reject(failure('SIGN_IN_FAILED', String(event.data.errorMessage)));
                } else return;
                end.abort();
            };
            /** @param {unknown} reason */
            const stop = (reason) => {
                reject(reason);
                end.abort();
            };
            addEventListener('message', receive, { signal: end.signal });
            signal?.addEventListener('abort', () => stop(signal.reason), { signal: end.signal });
            const begin = Date.now();
            let wasClosed = false;
            const watch = setInterval(() => {
                // What the window said just before it closed may still be on its way.
                if (wasClosed) stop(failure('SIGN_IN_FAILED', 'the window was closed'));
                else if (Date.now() - begin > SIGN_IN_TIME) {
                    stop(failure('SIGN_IN_FAILED', 'nobody signed in'));
                }
                wasClosed = page.closed;
            }, 500);
            end.signal.addEventListener('abort', () => clearInterval(watch));
        });
    }

    /** @param {string} token */
    #remember(token) {
        if (this.isSignedIn) this.#forget();
        this.#memory.set('webAuthToken', token);
    }

    /** @param {AbortSignal | undefined} signal */
    async #welcome(signal) {
        const user = await this.send('public/users/caller', {}, { signal });
        this.#push.restart();
        this.dispatchEvent(new Event('signin'));
        return user;
    }

    /** Forgets who was signed in; whoever is next has another client ID. */
    #forget() {
        const wasSignedIn = this.isSignedIn;
        for (const name of ['webAuthToken', 'clientId', 'push']) this.#memory.set(name, undefined);
        this.#push.restart();
        if (wasSignedIn) this.dispatchEvent(new Event('signout'));
    }

    // --- Users and shares

    /**
     * Finds users of the app who let others find them; who is not found is left out.
     * @param {LookupInfo[]} lookupInfos
     * @param {Options} [options]
     * @returns {Promise<UserIdentity[]>}
     */
    async discoverUserIdentities(lookupInfos, options) {
        const users = [];
        for (const group of inGroups(lookupInfos)) {
            users.push(...(await this.send('public/users/discover', { lookupInfos: group }, options)).users);
        }
        return users;
    }

    /**
     * Returns the URL of a share, which its owner gives to others.
     * @param {{ shortGUID?: string }} share
     */
    shareURL(share) {
        if (!share.shortGUID) throw failure('INVALID_ARGUMENTS', 'the record is not shared');
        return `${this.serverURL}/share/${share.shortGUID}`;
    }

    /**
     * Finds out what is shared, without joining.
     * @param {string[]} urls of shares, or their last parts
     * @param {Options & { shouldFetchRootRecord?: boolean, rootRecordDesiredKeys?: string[] }} options
     * @returns {Promise<(ShareMetadata | CloudError)[]>}
     */
    fetchShareMetadata(urls, { signal, ...wanted } = {}) {
        return this.#shares('resolve', urls, wanted, signal);
    }

    /**
     * Joins shares: their zones are in {@link sharedCloudDatabase} from then on.
     * @param {string[]} urls
     * @param {Options} options
     * @returns {Promise<(ShareMetadata | CloudError)[]>}
     */
    acceptShares(urls, { signal } = {}) {
        return this.#shares('accept', urls, {}, signal);
    }

    /**
     * Asks those who manage shares to be let in.
     * @param {string[]} urls
     * @param {Options} options
     * @returns {Promise<({ shortGUID: { value: string } } | CloudError)[]>}
     */
    requestShareAccess(urls, { signal } = {}) {
        return this.#shares('requestAccess', urls, {}, signal);
    }

    /**
     * @param {string} action
     * @param {string[]} urls
     * @param {object} wanted
     * @param {AbortSignal | undefined} signal
     */
    async #shares(action, urls, wanted, signal) {
        const shortGUIDs = urls.map((url) => ({
            value: decodeURIComponent(url.split(/[?#]/)[0].replace(/\/+$/, '').split('/').pop() ?? ''),
            ...wanted,
        }));
        const results = [];
        for (const group of inGroups(shortGUIDs)) {
            const answer = await this.send(`public/records/${action}`, { shortGUIDs: group }, { signal });
            results.push(...answer.results.map(result));
        }
        return results;
    }

    // --- Pushes

    /**
     * Begins to receive pushes, as events `notification`, until {@link unregisterForNotifications}, or
     * nobody is signed in any more; for the next user it begins again by itself.
     *
     * Of all tabs of the browser one asks the server, and tells the others. A push can be late, or be
     * lost with a tab; so fetch changes when the page starts and let a push be the hint to do it again.
     * Where the server has forgotten this browser, which is then registered anew, nobody knows what was
     * missed in between: all tabs get the event `notificationsmissed`, and a fetch then misses nothing.
     * What a page of this browser saves is no push here: the other tabs get the event `change`.
     */
    registerForNotifications() {
        this.#push.start();
    }

    /** Receives no pushes in this tab any more. */
    unregisterForNotifications() {
        this.#push.stop();
    }

    /**
     * Tells the other tabs what was changed; for {@link Database}.
     * @param {OwnChange} change
     */
    noteChange(change) {
        this.#push.tell(change);
    }
}

/**
 * What another tab of this browser saved or deleted.
 * @typedef {object} OwnChange
 * @property {DatabaseScope} databaseScope
 * @property {ZoneID} zoneID
 * @property {string[]} recordNames
 */

/**
 * What a push tells.
 * @typedef {object} CloudNotification
 * @property {string} [notificationID]
 * @property {string} [containerIdentifier]
 * @property {'query' | 'recordZone' | 'database' | 'unknown'} notificationType
 * @property {string} [subscriptionID]
 * @property {DatabaseScope} [databaseScope]
 * @property {ZoneID} [zoneID]
 * @property {string} [recordName]
 * @property {'create' | 'update' | 'delete'} [queryNotificationReason]
 * @property {Record<string, any>} [recordFields] those that the subscription asks for
 * @property {string | Record<string, any>} [alert]
 * @property {number} [badge]
 * @property {string} [soundName]
 * @property {string} [category]
 * @property {boolean} isPruned whether the push was too large for all that it tells
 * @property {Record<string, any>} userInfo as it came
 */

/**
 * Reads a push.
 * @param {any} payload its JSON
 * @returns {CloudNotification}
 */
export function notificationFrom(payload) {
    const { aps = {}, ck = {} } = payload ?? {};
    const [notificationType, about] = ck.qry ? ['query', ck.qry] : ck.fet ? ['recordZone', ck.fet]
        : ck.met ? ['database', ck.met] : ['unknown', {}];
    /** @type {Record<number, DatabaseScope>} */
    const scopes = { 1: 'private', 2: 'public', 3: 'shared' };
    /** @type {Record<number, 'create' | 'update' | 'delete'>} */
    const reasons = { 1: 'create', 2: 'update', 3: 'delete' };
    return {
        notificationID: ck.nid,
        containerIdentifier: ck.cid,
        notificationType: /** @type {CloudNotification['notificationType']} */ (notificationType),
        subscriptionID: about.sid,
        databaseScope: scopes[about.dbs],
        zoneID: about.zid ? { zoneName: about.zid, ownerRecordName: about.zoid } : undefined,
        recordName: about.rid,
        queryNotificationReason: reasons[about.fo],
        recordFields: about.af,
        alert: aps.alert,
        badge: aps.badge,
        soundName: typeof aps.sound === 'string' ? aps.sound : aps.sound?.name,
        category: aps.category,
        isPruned: ck.p === 1,
        userInfo: payload,
    };
}

/** Receives the pushes of a container, for all tabs of a browser. */
class PushChannel {
    #container;
    #memory;
    #name;
    #isShared;
    /** @type {BroadcastChannel | undefined} */
    #tabs;
    /** @type {AbortController | undefined} */
    #running;

    /**
     * @param {Container} container
     * @param {Memory} memory
     * @param {string} name
     * @param {boolean} isShared whether all tabs have one user, and so one push token
     */
    constructor(container, memory, name, isShared) {
        this.#container = container;
        this.#memory = memory;
        this.#name = name;
        // Without locks each tab has a push token of its own, and they take nothing from one another.
        this.#isShared = isShared && Boolean(globalThis.navigator?.locks);
        if (!isShared || typeof BroadcastChannel === 'undefined') return;
        this.#tabs = new BroadcastChannel(name);
        this.#tabs.onmessage = ({ data }) => {
            if (data.change) container.dispatchEvent(new CustomEvent('change', { detail: data.change }));
            if (data.payload && this.#running) this.#dispatch(data.payload);
            if (data.missed && this.#running) this.#dispatchMissed();
        };
    }

    start() {
        if (this.#running) return;
        this.#running = new AbortController();
        this.#run(this.#running.signal).catch((error) => {
            if (!this.#running?.signal.aborted) console.error(error);
        });
    }

    stop() {
        this.#running?.abort(failure('NETWORK_ERROR', 'stopped'));
        this.#running = undefined;
    }

    /** Begins again, for another user; nothing where it was not begun. */
    restart() {
        if (!this.#running) return;
        this.stop();
        this.start();
    }

    /** @param {OwnChange} change */
    tell(change) {
        this.#tabs?.postMessage({ change });
    }

    /** @param {any} payload */
    #dispatch(payload) {
        this.#container.dispatchEvent(
            new CustomEvent('notification', { detail: notificationFrom(payload) }));
    }

    #dispatchMissed() {
        this.#container.dispatchEvent(new Event('notificationsmissed'));
    }

    /** @param {AbortSignal} signal */
    async #run(signal) {
        if (!this.#container.isSignedIn) return;
        try {
            if (this.#isShared) {
                // Whoever has the lock polls for all; when its tab goes, the next one gets it.
                await navigator.locks.request(this.#name, { signal }, () => this.#poll(signal));
            } else {
                await this.#poll(signal);
            }
        } catch (error) {
            if (!signal.aborted) throw error;
        }
    }

    /** @param {AbortSignal} signal */
    async #poll(signal) {
        const memory = this.#isShared ? this.#memory : new Memory('', 'none');
        let pause = 0;
        while (!signal.aborted) {
            const begin = Date.now();
            try {
                const payload = await this.#next(memory, signal);
                if (payload) {
                    pause = 0;
                    this.#dispatch(payload);
                    if (this.#isShared) this.#tabs?.postMessage({ payload });
                } else if (Date.now() - begin > 1000) {
                    pause = 0;
                } else {
                    // Two polls of one courier end one another; then they take turns slowly.
                    pause = Math.min(Math.max(pause * 2, 100), LONGEST_POLL_WAIT);
                }
            } catch (error) {
                if (signal.aborted) throw error;
                if (!(error instanceof CloudError)) throw error;
                // Signed out: `restart` begins again for the next user.
                if (error.serverErrorCode === 'AUTHENTICATION_REQUIRED') return;
                // The courier is gone: another is made, also by the next tab if this one is closed.
                if (error.status === 404) memory.set('push', GONE);
                pause = Math.min(Math.max(pause * 2, 1000), LONGEST_POLL_WAIT);
                pause = Math.max(pause, Math.min((error.retryAfter ?? 0) * 1000, LONGEST_POLL_WAIT));
            }
            if (pause > 0) await this.#pause(pause * (0.75 + Math.random() / 2), signal);
        }
    }

    /**
     * Waits, at most until the browser is online again.
     * @param {number} milliseconds
     * @param {AbortSignal} signal
     */
    async #pause(milliseconds, signal) {
        const end = new AbortController();
        const stop = () => end.abort();
        globalThis.addEventListener?.('online', stop, { once: true, signal: end.signal });
        signal.addEventListener('abort', stop, { once: true, signal: end.signal });
        await wait(milliseconds, end.signal).catch(() => {});
        end.abort();
        signal.throwIfAborted();
    }

    /**
     * @param {Memory} memory
     * @param {AbortSignal} signal
     * @returns {Promise<any>} the next push; nothing when none came in a while
     */
    async #next(memory, signal) {
        let url = memory.get('push');
        if (!url || url === GONE) {
            const answer = await this.#container.send(
                'tokens/create',
                { apnsEnvironment: this.#container.environment, clientId: this.#container.clientID },
                { root: 'device', isWrite: true, signal });
            signal.throwIfAborted();
            const isReplaced = url === GONE;
            url = String(answer.webcourierURL);
            memory.set('push', url);
            if (isReplaced) {
                // From here on pushes wait for the new courier: what is fetched now leaves no gap.
                this.#dispatchMissed();
                if (this.#isShared) this.#tabs?.postMessage({ missed: true });
            }
        }
        const answer = await fetchWithin(url, { cache: 'no-store' }, POLL_TIME, signal, readAnswer);
        return answer.ck ? answer : undefined;
    }
}

/** A database of a container. */
export class Database {
    #container;

    /**
     * @param {Container} container
     * @param {DatabaseScope} databaseScope
     */
    constructor(container, databaseScope) {
        this.#container = container;
        /** @readonly */
        this.databaseScope = databaseScope;
    }

    /**
     * @param {string} action
     * @param {object} body
     * @param {Options & { isWrite?: boolean }} [options]
     */
    #send(action, body, options) {
        return this.#container.send(`${this.databaseScope}/${action}`, body, options);
    }

    // --- Records

    /**
     * Saves a record.
     *
     * @param {CloudRecord} record
     * @param {SaveOptions & { merge?: (server: StoredRecord, own: CloudRecord) => CloudRecord | undefined }}
     *     options `merge` is called when others have changed the record: it returns what is to be
     *     saved instead, beside which the tag of the server's record is set, or nothing to give up
     * @returns {Promise<StoredRecord>} the record as the server has it
     */
    async save(record, { merge, ...options } = {}) {
        let own = record;
        for (let merges = 0; ; merges += 1) {
            const [saved] = await this.saveRecords([own], options);
            if (!(saved instanceof CloudError)) return saved;
            const server = saved.serverRecord;
            const merged = server && merges < MOST_MERGES ? merge?.(server, own) : undefined;
            if (!server || !merged) throw saved;
            const { recordName, recordType, recordChangeTag } = server;
            own = { ...merged, recordName, recordType, recordChangeTag };
        }
    }

    /**
     * Saves records of one zone.
     * @param {CloudRecord[]} records
     * @param {SaveOptions} [options]
     * @returns {Promise<(StoredRecord | CloudError)[]>}
     */
    saveRecords(records, options) {
        return this.modifyRecords(records, [], options);
    }

    /**
     * Deletes a record, whoever changed it last.
     * @param {string} recordName
     * @param {ZoneOptions} [options]
     */
    async deleteRecord(recordName, options) {
        only(await this.deleteRecords([recordName], options));
    }

    /**
     * Deletes records of one zone.
     * @param {string[]} recordNames
     * @param {ZoneOptions & { atomic?: boolean }} [options]
     * @returns {Promise<({ recordName: string, deleted?: boolean } | CloudError)[]>}
     */
    deleteRecords(recordNames, options) {
        return this.modifyRecords([], recordNames, options);
    }

    /**
     * Saves and deletes records of one zone. More than one request can have are saved only where
     * `atomic` is false, since the server saves all or none of a request.
     *
     * @param {CloudRecord[]} recordsToSave
     * @param {string[]} recordNamesToDelete
     * @param {SaveOptions} [options]
     * @returns {Promise<any[]>} of all saved and deleted ones, the {@link StoredRecord}, the name with
     *     `deleted`, or the {@link CloudError}
     */
    async modifyRecords(recordsToSave, recordNamesToDelete, options = {}) {
        const { zoneID = DEFAULT_ZONE, savePolicy, atomic, signal, ...keys } = options;
        const zone = zoneIDOf(zoneID);
        const operations = [];
        for (const record of recordsToSave) {
            operations.push(await this.#saving(record, savePolicy, zone, signal));
        }
        for (const recordName of recordNamesToDelete) {
            operations.push({ operationType: 'forceDelete', record: { recordName } });
        }
        const isSplit = atomic === false || zone.zoneName === DEFAULT_ZONE;
        /** @type {any[]} */
        const results = [];
        for (const group of isSplit ? inGroups(operations) : [operations]) {
            const answer = await this.#send('records/modify', {
                zoneID: zone, operations: group, ...keys,
                ...(atomic === undefined ? {} : { atomic }),
            }, { signal, isWrite: true });
            results.push(...answer.records.map(result));
        }
        const recordNames = results.filter((item) => !(item instanceof CloudError))
            .map((item) => item.recordName);
        if (recordNames.length > 0) {
            this.#container.noteChange({ databaseScope: this.databaseScope, zoneID: zone, recordNames });
        }
        await this.#explainConflicts(results, recordsToSave, zone, keys, signal);
        return results;
    }

    /**
     * @param {CloudRecord} record
     * @param {SaveOptions['savePolicy']} policy
     * @param {ZoneID} zone
     * @param {AbortSignal | undefined} signal
     */
    async #saving(record, policy, zone, signal) {
        const isNew = !record.recordChangeTag;
        const operationType = policy === 'changedKeys' ? 'forceUpdate'
            : policy === 'allKeys' ? 'forceReplace' : isNew ? 'create' : 'update';
        // A name is made here, where the field's file needs it.
        const recordName = record.recordName ?? makeUUID();
        /** @type {Record<string, Field | null>} */
        const fields = {};
        for (const [name, field] of Object.entries(record.fields ?? {})) {
            const place = { recordName, recordType: record.recordType ?? '', fieldName: name, zone };
            fields[name] = await this.#outgoing(field, place, signal);
        }
        // What the server tells of a record beside its content is not sent back.
        const { created, modified, deleted, zoneID, shortGUID, share, currentUserParticipant,
            ...kept } = record;
        return { operationType, record: { ...kept, recordName, fields } };
    }

    /**
     * @param {Field} field
     * @param {{ recordName: string, recordType: string, fieldName: string, zone: ZoneID }} place
     * @param {AbortSignal | undefined} signal
     * @returns {Promise<Field>}
     */
    async #outgoing(field, place, signal) {
        const value = field?.value;
        if (value instanceof Date) return { ...field, value: value.getTime(), type: 'TIMESTAMP' };
        if (typeof value === 'bigint') return { ...field, value: value.toString(), type: 'INT64' };
        if (value instanceof Uint8Array) return { ...field, value: base64(value), type: 'BYTES' };
        if (value instanceof Blob) {
            const { zone: zoneID, ...rest } = place;
            return { ...field, value: await this.uploadAsset(value, { ...rest, zoneID, signal }), type: 'ASSET' };
        }
        if (Array.isArray(value) && value[0] instanceof Date) {
            return { ...field, value: value.map((date) => date.getTime()), type: 'TIMESTAMP_LIST' };
        }
        return field;
    }

    /**
     * Adds to errors what was to be saved, and to conflicts what the server has.
     * @param {any[]} results
     * @param {CloudRecord[]} records
     * @param {ZoneID} zone
     * @param {KeyOptions} keys
     * @param {AbortSignal | undefined} signal
     */
    async #explainConflicts(results, records, zone, keys, signal) {
        const conflicts = [];
        for (const [index, error] of results.entries()) {
            if (!(error instanceof CloudError) || index >= records.length) continue;
            error.record = records[index];
            if (['CONFLICT', 'EXISTS'].includes(error.serverErrorCode)) conflicts.push(error);
        }
        if (conflicts.length === 0) return;
        const names = conflicts.map((error) => error.recordName ?? '');
        const found = await this.fetchRecords(names, { zoneID: zone, signal, ...keys })
            // The conflict is what the caller has to know; what the server has is a help.
            .catch((error) => {
                if (error instanceof CloudError) return [];
                throw error;
            });
        for (const [index, error] of conflicts.entries()) {
            const record = found[index];
            if (record && !(record instanceof CloudError)) error.serverRecord = record;
        }
    }

    /**
     * Returns a record.
     * @param {string} recordName
     * @param {ZoneOptions & KeyOptions} [options]
     * @returns {Promise<StoredRecord>}
     */
    async fetchRecord(recordName, options) {
        return only(await this.fetchRecords([recordName], options));
    }

    /**
     * Returns records of one zone.
     * @param {string[]} recordNames
     * @param {ZoneOptions & KeyOptions} options
     * @returns {Promise<(StoredRecord | CloudError)[]>}
     */
    async fetchRecords(recordNames, { zoneID = DEFAULT_ZONE, signal, ...keys } = {}) {
        const results = [];
        for (const group of inGroups(recordNames)) {
            const answer = await this.#send('records/lookup', {
                zoneID: zoneIDOf(zoneID), records: group.map((recordName) => ({ recordName })), ...keys,
            }, { signal });
            results.push(...answer.records.map(result));
        }
        return results;
    }

    /**
     * Returns one page of the records that match a query.
     *
     * @param {Query} query
     * @param {QueryOptions} options of a further page, the same again and `cursor`
     * @returns {Promise<{ records: StoredRecord[], cursor?: string }>} with a cursor where there is more
     */
    async fetchPage(query, { zoneID, cursor, signal, ...rest } = {}) {
        const answer = await this.#send('records/query', {
            query, ...rest,
            ...(zoneID === undefined ? {} : { zoneID: zoneIDOf(zoneID) }),
            ...(cursor === undefined ? {} : { continuationMarker: cursor }),
        }, { signal });
        return { records: answer.records, cursor: answer.continuationMarker };
    }

    /**
     * Goes through all records that match a query, page by page:
     *
     *     for await (const note of database.records({ recordType: 'Note' })) …
     *
     * @param {Query} query
     * @param {QueryOptions} [options] `resultsLimit` is that of a page
     * @returns {AsyncGenerator<StoredRecord, void, undefined>}
     */
    async *records(query, options = {}) {
        let { cursor } = options;
        do {
            const page = await this.fetchPage(query, { ...options, cursor });
            yield* page.records;
            cursor = page.cursor;
        } while (cursor !== undefined);
    }

    // --- Changes

    /**
     * Returns the zones that changed since a token, of the first page; of the private and the shared
     * database.
     * @param {string} [syncToken] what is returned first is all zones
     * @param {Options & { resultsLimit?: number }} options
     * @returns {Promise<{ zones: Zone[], syncToken: string, moreComing: boolean }>}
     */
    fetchDatabaseChanges(syncToken, { signal, ...rest } = {}) {
        return this.#send('changes/database', { syncToken, ...rest }, { signal });
    }

    /**
     * Returns what changed in a zone since a token, of the first page. Of a deleted record there are
     * `recordName` and `deleted`. A token that is too old fails with `BAD_REQUEST` and the reason
     * `client knowledge differs from server knowledge`: begin again without one.
     * @param {ZoneName} zoneID
     * @param {string} [syncToken]
     * @param {Options & KeyOptions & { resultsLimit?: number, desiredRecordTypes?: string[] }} options
     * @returns {Promise<{ zoneID: ZoneID, records: CloudRecord[], syncToken: string, moreComing: boolean }>}
     */
    async fetchZoneChanges(zoneID, syncToken, { signal, ...rest } = {}) {
        const answer = await this.#send('changes/zone', {
            zones: [{ zoneID: zoneIDOf(zoneID), syncToken, ...rest }],
        }, { signal });
        return only(answer.zones.map(result));
    }

    /**
     * Goes through all pages of what changed in a zone: each has the token to begin with the next
     * time, which is kept when its records were taken over.
     * @param {ZoneName} zoneID
     * @param {string} [syncToken]
     * @param {Options & KeyOptions & { resultsLimit?: number, desiredRecordTypes?: string[] }} [options]
     */
    async *zoneChanges(zoneID, syncToken, options) {
        let token = syncToken;
        let moreComing = true;
        while (moreComing) {
            const page = await this.fetchZoneChanges(zoneID, token, options);
            yield page;
            token = page.syncToken;
            moreComing = Boolean(page.moreComing);
        }
    }

    // --- Zones

    /**
     * @param {Options} [options]
     * @returns {Promise<Zone[]>}
     */
    async fetchAllRecordZones(options) {
        return (await this.#send('zones/list', {}, options)).zones;
    }

    /**
     * @param {ZoneName[]} zoneIDs
     * @param {Options} [options]
     * @returns {Promise<(Zone | CloudError)[]>}
     */
    async fetchRecordZones(zoneIDs, options) {
        const answer = await this.#send('zones/lookup', { zones: zoneIDs.map(zoneIDOf) }, options);
        return answer.zones.map(result);
    }

    /**
     * Makes a zone; one that is there stays as it is.
     * @param {ZoneName} zoneID
     * @param {Options} [options]
     * @returns {Promise<Zone>}
     */
    async saveRecordZone(zoneID, options) {
        return only(await this.#modifyZones('create', [zoneID], options));
    }

    /**
     * Deletes a zone with all records.
     * @param {ZoneName} zoneID
     * @param {Options} [options]
     */
    async deleteRecordZone(zoneID, options) {
        only(await this.#modifyZones('delete', [zoneID], options));
    }

    /**
     * @param {string} operationType
     * @param {ZoneName[]} zoneIDs
     * @param {Options} [options]
     * @returns {Promise<(Zone | CloudError)[]>}
     */
    async #modifyZones(operationType, zoneIDs, options) {
        const operations = zoneIDs.map((zone) => ({ operationType, zone: { zoneID: zoneIDOf(zone) } }));
        const answer = await this.#send('zones/modify', { operations }, { ...options, isWrite: true });
        return answer.zones.map(result);
    }

    // --- Subscriptions

    /**
     * @param {Options} [options]
     * @returns {Promise<Subscription[]>}
     */
    async fetchAllSubscriptions(options) {
        return (await this.#send('subscriptions/list', {}, options)).subscriptions;
    }

    /**
     * @param {string} subscriptionID
     * @param {Options} [options]
     * @returns {Promise<Subscription>}
     */
    async fetchSubscription(subscriptionID, options) {
        const answer = await this.#send(
            'subscriptions/lookup', { subscriptions: [{ subscriptionID }] }, options);
        return only(answer.subscriptions.map(result));
    }

    /**
     * Saves a subscription; one with its ID is replaced.
     * @param {Subscription} subscription
     * @param {Options} [options]
     * @returns {Promise<Subscription>}
     */
    saveSubscription(subscription, options) {
        return this.#modifySubscription('create', subscription, options);
    }

    /**
     * @param {string} subscriptionID
     * @param {Options} [options]
     */
    async deleteSubscription(subscriptionID, options) {
        await this.#modifySubscription('delete', { subscriptionID }, options);
    }

    /**
     * @param {string} operationType
     * @param {object} subscription
     * @param {Options} [options]
     */
    async #modifySubscription(operationType, subscription, options) {
        const answer = await this.#send(
            'subscriptions/modify', { operations: [{ operationType, subscription }] },
            { ...options, isWrite: true });
        return only(answer.subscriptions.map(result));
    }

    // --- Files

    /**
     * Uploads a file for a field; `save` does it for each `Blob` among the values.
     *
     * @param {Blob} file
     * @param {ZoneOptions & { recordName?: string, recordType: string, fieldName: string }} field
     * @returns {Promise<Asset>} the value of the field
     */
    async uploadAsset(file, { zoneID = DEFAULT_ZONE, signal, ...token }) {
        for (let attempt = 1; ; attempt += 1) {
            // A URL takes one file: what has to be sent again gets another.
            const answer = await this.#send(
                'assets/upload', { zoneID: zoneIDOf(zoneID), tokens: [token] }, { signal, isWrite: true });
            const { url } = /** @type {{ url: string }} */ (only(answer.tokens.map(result)));
            try {
                const sent = await fetchWithin(
                    url, { method: 'POST', body: file }, FILE_TIME, signal, readAnswer);
                return sent.singleFile;
            } catch (error) {
                if (!(error instanceof CloudError) || !error.isRetriable || attempt === MOST_ATTEMPTS) throw error;
                const pause = (error.retryAfter ?? 2 ** attempt) * 1000;
                if (pause > LONGEST_RETRY_WAIT) throw error;
                await wait(pause, signal);
            }
        }
    }

    /**
     * Returns the file of a field, as fetched with its record: its URL is good for a while.
     * @param {Asset} asset the value of the field
     * @param {Options & { fileName?: string }} options
     * @returns {Promise<Blob>}
     */
    downloadAsset(asset, { fileName = 'file', signal } = {}) {
        if (!asset?.downloadURL) throw failure('INVALID_ARGUMENTS', 'the field has no file to download');
        const url = asset.downloadURL.replace('${f}', encodeURIComponent(fileName));
        return fetchWithin(url, {}, FILE_TIME, signal, async (response) => {
            if (!response.ok) await readAnswer(response);
            return response.blob();
        });
    }

    // --- Sharing

    /**
     * Shares a record, and all that have it as a parent, of a zone that is not the default one.
     *
     * @param {CloudRecord & { recordName: string }} rootRecord as it was fetched or saved last
     * @param {ZoneOptions & { title?: string, publicPermission?: 'NONE' | 'READ_ONLY' | 'READ_WRITE',
     *     participants?: Participant[] }} options whoever has the URL has `publicPermission`, `NONE`
     *     unless set; participants have a `userIdentity` with `lookupInfo` and a `permission`
     * @returns {Promise<{ share: StoredRecord, rootRecord: StoredRecord, url: string }>}
     */
    async share(rootRecord, { zoneID = rootRecord.zoneID ?? DEFAULT_ZONE, signal, title,
        publicPermission = 'NONE', participants } = {}) {
        const zone = zoneIDOf(zoneID);
        const { recordName, recordType, recordChangeTag } = rootRecord;
        const send = async (/** @type {object} */ operation) => only((await this.#send(
            'records/modify', { zoneID: zone, operations: [operation] }, { signal, isWrite: true }
        )).records.map(result));
        // First the root gets the name of its share, then the share is made for this version of it.
        const root = await send({
            operationType: 'update',
            record: { recordName, recordType, recordChangeTag, fields: {}, createShortGUID: true },
        });
        const share = await send({
            operationType: 'create',
            record: {
                recordType: 'cloudkit.share', recordName: `share-${makeUUID()}`,
                fields: title === undefined ? {} : { 'cloudkit.title': { value: title } },
                publicPermission, ...(participants ? { participants } : {}),
                forRecord: { recordName, recordChangeTag: root.recordChangeTag },
            },
        });
        // The root names its share now, which changed its tag.
        const shared = await this.fetchRecord(recordName, { zoneID: zone, signal });
        this.#container.noteChange({
            databaseScope: this.databaseScope, zoneID: zone, recordNames: [recordName, share.recordName],
        });
        return { share, rootRecord: shared, url: this.#container.shareURL(share) };
    }
}

/** @param {Uint8Array} bytes */
function base64(bytes) {
    let text = '';
    // Pieces of it: all bytes at once would be too many arguments.
    for (let start = 0; start < bytes.length; start += 4096) {
        text += String.fromCharCode(...bytes.subarray(start, start + 4096));
    }
    return btoa(text);
}
