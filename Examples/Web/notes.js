// @ts-check
// SPDX-License-Identifier: Apache-2.0
/**
 * Notes that several tabs, browsers and people have in common: what an app on tidebell.js looks like.
 *
 * What the page shows it keeps in memory, and fetches what changed since: when it starts, when a push
 * comes or may have been missed, when another tab of the browser saved something, and when it comes to the
 * front again.
 *
 * @typedef {import('../../Sources/TidebellHTTP/Resources/tidebell.js').Container} Container
 * @typedef {import('../../Sources/TidebellHTTP/Resources/tidebell.js').Database} Database
 * @typedef {import('../../Sources/TidebellHTTP/Resources/tidebell.js').StoredRecord} StoredRecord
 * @typedef {import('../../Sources/TidebellHTTP/Resources/tidebell.js').CloudRecord} CloudRecord
 * @typedef {import('../../Sources/TidebellHTTP/Resources/tidebell.js').ZoneID} ZoneID
 * @typedef {{ record: StoredRecord, database: Database, zoneID: ZoneID }} Note
 */

/** The zone of the user's own notes. */
const ZONE = 'Notes';

/**
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
const element = (id) => /** @type {T} */ (document.getElementById(id));
/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (element(id));

// --- Which cloud: from the part of the URL after `#`, else from what was typed last time.

const settings = new URLSearchParams(location.hash.slice(1) || localStorage.getItem('notes cloud') || '');
for (const name of ['server', 'container', 'api-token']) input(name).value = settings.get(name) ?? '';
if (!input('container').value) input('container').value = 'iCloud.org.example.notes';
element('setup-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const typed = new URLSearchParams();
    for (const name of ['server', 'container', 'api-token']) typed.set(name, input(name).value.trim());
    localStorage.setItem('notes cloud', typed.toString());
    location.hash = '';
    location.reload();
});

/** @type {Container} */
let container;
/** All notes, by where they are.
 * @type {Map<string, Note>} */
const notes = new Map();
/** Where the next changes begin, by database and by zone.
 * @type {Map<string, string>} */
const syncTokens = new Map();
/** The note in the editor, as it was when it was opened.
 * @type {Note | undefined} */
let open;
/** The names that a search found; nothing without a search.
 * @type {Set<string> | undefined} */
let found;

/**
 * Shows one of the parts of the page.
 * @param {'setup' | 'sign-in' | 'notes'} part
 */
function show(part) {
    for (const id of ['setup', 'sign-in', 'notes']) element(id).hidden = id !== part;
    element('who').hidden = part !== 'notes';
}

/** @param {string} news */
function tell(news) {
    element('news').textContent = news;
}

/**
 * Does what a person asked for; what fails is shown.
 * @param {() => Promise<void>} work
 */
async function attempt(work) {
    element('problem').hidden = true;
    try {
        await work();
    } catch (error) {
        console.warn(error);
        const { reason, serverErrorCode } = /** @type {any} */ (error);
        element('problem').textContent = serverErrorCode === 'NETWORK_ERROR'
            ? 'The server cannot be reached.' : `That did not work: ${reason ?? error}`;
        element('problem').hidden = false;
    }
}

/**
 * @param {string} id
 * @param {string} event
 * @param {() => Promise<void>} work
 */
function on(id, event, work) {
    element(id).addEventListener(event, (happened) => {
        happened.preventDefault();
        attempt(work);
    });
}

// --- Sync

/**
 * @param {Database} database
 * @param {ZoneID} zoneID
 * @param {string} recordName
 */
const keyOf = (database, zoneID, recordName) => {
    // The owner of one's own zones need not be named.
    const owner = database.databaseScope === 'private' ? '' : zoneID.ownerRecordName;
    return `${database.databaseScope} ${owner} ${zoneID.zoneName} ${recordName}`;
};

/** @type {Promise<void>} */
let syncing = Promise.resolve();
let isSyncWaiting = false;

/** Fetches what changed; what is asked for while it runs is done once, after it. */
function sync() {
    if (isSyncWaiting) return syncing;
    isSyncWaiting = true;
    syncing = syncing.catch(() => {}).then(async () => {
        isSyncWaiting = false;
        if (!container.isSignedIn) return;
        for (const database of [container.privateCloudDatabase, container.sharedCloudDatabase]) {
            await syncDatabase(database);
        }
        render();
    });
    return syncing;
}

/** @param {Database} database */
async function syncDatabase(database) {
    const scope = database.databaseScope;
    let moreComing = true;
    while (moreComing) {
        const changes = await database.fetchDatabaseChanges(syncTokens.get(scope));
        for (const { zoneID, deleted } of changes.zones) {
            const zone = keyOf(database, zoneID, '');
            if (deleted) {
                syncTokens.delete(zone);
                for (const key of notes.keys()) if (key.startsWith(zone)) notes.delete(key);
            } else {
                await syncZone(database, zoneID);
            }
        }
        syncTokens.set(scope, changes.syncToken);
        moreComing = changes.moreComing;
    }
}

/**
 * @param {Database} database
 * @param {ZoneID} zoneID
 */
async function syncZone(database, zoneID) {
    const zone = keyOf(database, zoneID, '');
    for await (const page of database.zoneChanges(zoneID, syncTokens.get(zone))) {
        for (const record of page.records) {
            const key = zone + record.recordName;
            if (record.deleted) notes.delete(key);
            else if (record.recordType === 'Note') {
                notes.set(key, { record: /** @type {StoredRecord} */ (record), database, zoneID });
            }
        }
        syncTokens.set(zone, page.syncToken);
    }
}

// --- The list

/** @param {CloudRecord} record */
const titleOf = (record) => String(record.fields?.title?.value ?? '');
/** @param {CloudRecord} record */
const textOf = (record) => String(record.fields?.text?.value ?? '');

function render() {
    const openKey = open && keyOf(open.database, open.zoneID, open.record.recordName);
    const items = [...notes].filter(([, { record }]) => !found || found.has(record.recordName))
        .sort(([, one], [, other]) => titleOf(one.record).localeCompare(titleOf(other.record)));
    element('list').replaceChildren(...items.map(([key, note]) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.dataset.key = key;
        button.textContent = titleOf(note.record);
        button.setAttribute('aria-current', String(key === openKey));
        const about = [
            note.database.databaseScope === 'shared' ? 'shared with you'
                : note.record.share ? 'you share it' : '',
            textOf(note.record).slice(0, 60),
        ].filter(Boolean).join(' · ');
        if (about) {
            const small = document.createElement('small');
            small.textContent = about;
            button.append(small);
        }
        button.addEventListener('click', () => attempt(async () => edit(note)));
        const item = document.createElement('li');
        item.append(button);
        return item;
    }));
    element('none').textContent = found ? 'Nothing was found.' : 'There are no notes yet.';
    element('none').hidden = items.length > 0;
    // The note in the editor changes with what others save, unless something was typed into it.
    const current = openKey && notes.get(openKey);
    if (open && openKey && !current && open.record.recordChangeTag) closeEditor();
    else if (current && current !== open && !isChanged()) fill(current);
}

on('search-form', 'submit', async () => {
    const text = input('search').value.trim();
    found = text ? new Set() : undefined;
    if (found) {
        const query = {
            recordType: 'Note',
            filterBy: [{ comparator: 'BEGINS_WITH', fieldName: 'title', fieldValue: { value: text } }],
            sortBy: [{ fieldName: 'title', ascending: true }],
        };
        const options = { zoneID: ZONE, desiredKeys: [], resultsLimit: 50 };
        for await (const { recordName } of container.privateCloudDatabase.records(query, options)) {
            found.add(recordName);
        }
    }
    render();
    tell(found ? `${found.size} of your own notes found` : 'All notes are shown');
});

// --- The editor

/** @param {Note} note */
function fill(note) {
    open = note;
    input('title').value = titleOf(note.record);
    input('text').value = textOf(note.record);
    input('picture').value = '';
    const picture = note.record.fields.picture?.value;
    element('shown-picture').hidden = !picture;
    if (picture) /** @type {HTMLImageElement} */ (element('shown-picture')).src = picture.downloadURL.replace('${f}', 'picture');
    const isNew = !note.record.recordChangeTag;
    const isOwn = note.database.databaseScope === 'private';
    element('editor-title').textContent = isNew ? 'New note' : 'Note';
    element('delete').hidden = isNew;
    element('share').hidden = isNew || !isOwn || Boolean(note.record.share);
    element('shared').hidden = !(isOwn && note.record.shortGUID && note.record.share);
    if (!element('shared').hidden) input('link').value = container.shareURL(note.record);
}

/**
 * Takes what was saved here: the changes of the shared database may have it a moment later only.
 * @param {Note} note
 */
function keep(note) {
    notes.set(keyOf(note.database, note.zoneID, note.record.recordName), note);
    fill(note);
}

/** @param {Note} note */
function edit(note) {
    fill(note);
    element('editor').hidden = false;
    render();
    element('title').focus();
}

function closeEditor() {
    open = undefined;
    element('editor').hidden = true;
}

const isChanged = () => open !== undefined && (
    input('title').value !== titleOf(open.record) || input('text').value !== textOf(open.record)
    || Boolean(input('picture').files?.length));

on('new', 'click', async () => edit({
    record: { recordName: '', recordType: 'Note', fields: {} },
    database: container.privateCloudDatabase, zoneID: { zoneName: ZONE },
}));

on('close', 'click', async () => {
    closeEditor();
    render();
    element('new').focus();
});

on('note-form', 'submit', async () => {
    if (!open) return;
    const { record, database, zoneID } = open;
    const [title, text, picture] = [input('title').value, input('text').value, input('picture').files?.[0]];
    /** What was typed here; the rest of the record stays as it is.
     * @type {CloudRecord} */
    const typed = { recordType: 'Note', recordChangeTag: record.recordChangeTag, fields: {
        ...(title === titleOf(record) ? {} : { title: { value: title } }),
        ...(text === textOf(record) ? {} : { text: { value: text } }),
        ...(picture ? { picture: { value: picture } } : {}),
    } };
    if (record.recordName) typed.recordName = record.recordName;
    const saved = await database.save(typed, {
        zoneID,
        // Others saved it meanwhile: of the text, which both may have changed, both versions stay.
        merge: (server, own) => own.fields?.text && textOf(server) !== textOf(record)
            ? { ...own, fields: { ...own.fields, text: { value: `${textOf(server)}\n\n${text}` } } } : own,
    });
    keep({ record: saved, database, zoneID });
    await sync();
    tell('Saved');
});

on('delete', 'click', async () => {
    if (!open) return;
    await open.database.deleteRecord(open.record.recordName, { zoneID: open.zoneID });
    closeEditor();
    await sync();
    tell('Deleted');
    element('new').focus();
});

on('share', 'click', async () => {
    if (!open) return;
    const { record, database, zoneID } = open;
    const shared = await database.share(record, {
        zoneID, title: titleOf(record), publicPermission: 'READ_WRITE',
    });
    keep({ record: shared.rootRecord, database, zoneID });
    await sync();
    input('link').select();
    tell('Shared');
});

on('join-form', 'submit', async () => {
    const [joined] = await container.acceptShares([input('share-url').value]);
    if (joined instanceof Error) throw joined;
    input('share-url').value = '';
    // What was joined is there at once; among the changes of the database it may be a moment later.
    const database = container.sharedCloudDatabase;
    if (joined.databaseScope === 'SHARED') await syncZone(database, joined.zoneID);
    await sync();
    tell('You joined the note');
});

// --- Who is signed in

on('sign-in-window', 'click', async () => { await container.signIn(); });
on('sign-in-form', 'submit', async () => {
    await container.signInWithPassword(input('name').value, input('password').value);
    input('password').value = '';
});
on('sign-out', 'click', () => container.signOut());

/** Shows the notes of whoever is signed in. */
async function begin() {
    const user = await container.fetchCurrentUser();
    if (!user) return show('sign-in');
    element('user').textContent = `User ${user.userRecordName?.slice(0, 9)}…`;
    // Made again each time, these change nothing.
    await container.privateCloudDatabase.saveRecordZone(ZONE);
    for (const database of [container.privateCloudDatabase, container.sharedCloudDatabase]) {
        await database.saveSubscription({
            subscriptionID: `notes-${database.databaseScope}`, subscriptionType: 'database',
            notificationInfo: { shouldSendContentAvailable: true },
        });
    }
    container.registerForNotifications();
    await sync();
    show('notes');
}

function end() {
    notes.clear();
    syncTokens.clear();
    found = undefined;
    closeEditor();
    render();
    tell('');
    show('sign-in');
}

await attempt(async () => {
    const server = settings.get('server');
    if (!server || !settings.get('api-token')) return show('setup');
    const client = await import(new URL('tidebell.js', server.replace(/\/*$/, '/')).href);
    container = new client.Container({
        serverURL: server, containerIdentifier: settings.get('container') ?? '',
        apiToken: settings.get('api-token') ?? '', environment: 'development',
    });
    container.addEventListener('signin', () => attempt(begin));
    container.addEventListener('signout', end);
    container.addEventListener('notification', (event) => attempt(async () => {
        await sync();
        const { databaseScope } = /** @type {CustomEvent} */ (event).detail;
        tell(databaseScope === 'shared' ? 'A shared note was changed' : 'Changed on another device');
    }));
    container.addEventListener('change', () => attempt(async () => {
        await sync();
        tell('Changed in another tab');
    }));
    container.addEventListener('notificationsmissed', () => attempt(sync));
    document.addEventListener('visibilitychange', () => {
        if (!document.hidden && container.isSignedIn) attempt(sync);
    });
    await container.completeSignIn();
    await begin();
});
