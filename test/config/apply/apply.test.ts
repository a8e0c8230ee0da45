import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { applyConfig } from '../../../src/config/apply.ts'
import { describeChange } from '../../../src/config/changes.ts'
import type { Database } from '../../../src/database/db.ts'
import { ConfigError } from '../../../src/lib/fields.ts'
import type { NotificationConfig } from '../../../src/notifications/notification.ts'
import { deleteNotification, listNotifications } from '../../../src/notifications/store.ts'
import type { RelayerAccounts } from '../../../src/relayers/accounts/accounts.ts'
import { reserveAccounts } from '../../../src/relayers/accounts/claims-store.ts'
import { findAccounts } from '../../../src/relayers/accounts/pool-store.ts'
import type { RelayerConfig } from '../../../src/relayers/relayer.ts'
import {
  findRelayer,
  listRelayers,
  removeRelayer,
  saveRelayer,
  setSystemDisabled,
} from '../../../src/relayers/store.ts'
import { createSecret } from '../../../src/security/secrets.ts'
import type { SignerConfig } from '../../../src/signers/providers/registry.ts'
import { emptyDatabase, openTestDatabase } from '../../support/database.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())
beforeEach(() => emptyDatabase(database))

const OPS: NotificationConfig = { id: 'ops', type: 'webhook', url: 'https://hooks.example/token-1' }
const MAIN: RelayerConfig = {
  id: 'main',
  name: 'Main',
  network: 'anvil',
  networkType: 'evm',
  signerId: 'dev',
  notificationId: 'ops',
  paused: false,
  policies: { gasPriceCap: 5n },
}

interface Applied {
  relayers?: RelayerConfig[]
  notifications?: NotificationConfig[]
  signers?: SignerConfig[]
  address?: string
}

/** Applies and gives the summary a person reads. */
async function apply({
  relayers = [MAIN],
  notifications = [OPS],
  signers = [],
  address = '0xA',
}: Applied = {}): Promise<string[]> {
  const accounts = new Map(
    relayers.map(({ id, network }): [string, RelayerAccounts] => [
      id,
      { chain: network, addresses: [id === 'main' ? address : `0x${id}`] },
    ]),
  )
  const changes = await applyConfig(database.db, { relayers, notifications, signers }, accounts)
  return changes.map(describeChange)
}

async function problemsOf(applied: Applied): Promise<readonly string[]> {
  const error: unknown = await apply(applied).catch((thrown) => thrown)
  if (error instanceof ConfigError) return error.problems
  throw new Error('It was not refused.')
}

async function addTransaction(status: string, nonce: bigint | null, relayerId = 'main'): Promise<void> {
  await database.db
    .insertInto('transactions')
    .values({
      id: crypto.randomUUID(),
      relayer_id: relayerId,
      network: 'anvil',
      from_address: '0xA',
      status,
      status_reason: null,
      purpose: 'request',
      request: '{}',
      estimated_gas: null,
      source_account: nonce === null ? null : '0xA',
      nonce,
      current_attempt: null,
      block_number: null,
      block_hash: null,
      sent_at: null,
      confirmed_at: null,
    })
    .execute()
}

const nextNonce = async () =>
  (
    await database.db
      .selectFrom('accounts')
      .where('relayer_id', '=', 'main')
      .select('next_nonce')
      .executeTakeFirst()
  )?.next_nonce

const setNextNonce = (next_nonce: bigint) =>
  database.db.updateTable('accounts').set({ next_nonce }).where('relayer_id', '=', 'main').execute()

describe('a configuration', () => {
  test('that is new creates everything, and an account for each relayer', async () => {
    expect(await apply()).toEqual(['notification "ops" created', 'relayer "main" created'])
    expect(await findRelayer(database.db, 'main')).toMatchObject({ address: '0xA', notificationId: 'ops' })
    expect(await nextNonce()).toBeNull()
  })

  test('that is applied again changes nothing', async () => {
    await apply()
    expect(await apply()).toEqual([])
  })

  test('that changed is told field by field, without secrets of urls', async () => {
    await apply()
    const changed = {
      ...MAIN,
      paused: true,
      policies: { gasPriceCap: 6n, minBalance: 1n },
      customRpcUrls: [{ url: 'https://rpc.example/v1/secret', weight: 100 }],
    }
    expect(
      await apply({
        relayers: [changed],
        notifications: [{ ...OPS, url: 'https://hooks.example/token-2', signingKey: createSecret('secret') }],
      }),
    ).toEqual([
      'notification "ops" updated: url changed, hasSigningKey from false to true',
      'relayer "main" updated: paused from false to true, policies from {"gasPriceCap":"5"} to {"gasPriceCap":"6","minBalance":"1"}, customRpcUrls from nothing to [{"url":"https://rpc.example/***","weight":100}]',
    ])
    expect(await findRelayer(database.db, 'main')).toMatchObject(changed)
  })

  test('keeps what the service itself decided', async () => {
    await apply()
    await setNextNonce(7n)
    const reason = { type: 'BalanceCheckFailed', details: 'empty' } as const
    await database.db.transaction().execute((tx) => setSystemDisabled(tx, 'main', reason))
    await apply({ relayers: [{ ...MAIN, name: 'Renamed' }] })
    expect(await findRelayer(database.db, 'main')).toMatchObject({ name: 'Renamed', systemDisabled: true })
    expect(await nextNonce()).toBe(7n)
  })

  test('applied by several processes at the same time creates everything once', async () => {
    const results = await Promise.all([apply(), apply(), apply()])
    expect(results.filter((changes) => changes.length > 0)).toHaveLength(1)
  })
})

describe('a relayer that is no longer named', () => {
  test('leaves the list with its notification, and comes back with its history when named again', async () => {
    await apply()
    await addTransaction('confirmed', 0n)
    await setNextNonce(1n)
    expect(await apply({ relayers: [], notifications: [] })).toEqual([
      'relayer "main" removed',
      'notification "ops" removed',
    ])
    expect(await findRelayer(database.db, 'main')).toBeUndefined()
    expect(await listRelayers(database.db, { offset: 0, limit: 10 })).toEqual({ items: [], total: 0 })
    expect(await listNotifications(database.db, { offset: 0, limit: 10 })).toEqual({ items: [], total: 0 })
    expect(await apply({ relayers: [], notifications: [] })).toEqual([])

    expect(await apply()).toEqual([
      'notification "ops" created',
      'relayer "main" restored: notificationId from nothing to "ops"',
    ])
    expect(await findRelayer(database.db, 'main')).toMatchObject({ notificationId: 'ops' })
    expect(await nextNonce()).toBe(1n)
  })

  test.each(['pending', 'sent', 'submitted', 'mined'])(
    'is refused while a transaction is %s, and nothing changes',
    async (status) => {
      await apply()
      await addTransaction(status, null)
      const other = { ...MAIN, id: 'other' }
      expect(await problemsOf({ relayers: [other] })).toEqual([
        'relayer "main" cannot be removed: 1 transaction is unfinished; restore the entry with "paused": true, wait until they are final or cancel them, then try again',
      ])
      const { items } = await listRelayers(database.db, { offset: 0, limit: 10 })
      expect(items.map(({ id }) => id)).toEqual(['main'])
    },
  )
})

describe('the accounts of a relayer', () => {
  const applyCount = (count: number | undefined, change: Partial<RelayerConfig> = {}) => {
    const sources = count === undefined ? {} : { accounts: [{ signerId: 'dev', count }] }
    const relayer = { ...MAIN, ...change, ...sources } as RelayerConfig
    const further = Array.from({ length: (count ?? 1) - 1 }, (_, index) => {
      const address = `0x${index + 1}`
      return { ...MAIN, ...change, id: `main/${address}`, address, accountIndex: index + 1 }
    })
    const accounts = new Map([['main', { chain: 'anvil', addresses: ['0xA'] as const, further }]])
    return applyConfig(database.db, { relayers: [relayer], notifications: [OPS], signers: [] }, accounts)
  }
  const stateOf = async () => {
    const found = (await findAccounts(database.db, ['main'])).get('main') ?? []
    return found.map(({ id, paused, draining = false }) => ({ id, paused, draining }))
  }
  const claimed = async () => {
    const rows = await database.db
      .selectFrom('operated_accounts')
      .select('address')
      .orderBy('address')
      .execute()
    return rows.map(({ address }) => address)
  }

  test('come and go with the file, and those that are leaving follow the relayer until they are gone', async () => {
    await applyCount(3)
    await addTransaction('pending', null, 'main/0x1')
    await applyCount(undefined)
    expect(await stateOf()).toEqual([
      { id: 'main', paused: false, draining: false },
      { id: 'main/0x1', paused: false, draining: true },
    ])
    expect(await claimed()).toEqual(['0x1', '0xA'])
    expect((await findRelayer(database.db, 'main'))?.accounts).toEqual([{ signerId: 'dev', count: 1 }])
    await applyCount(undefined, { paused: true })
    expect((await stateOf()).map(({ paused }) => paused)).toEqual([true, true])
    expect(await applyCount(undefined, { paused: true })).toEqual([])
    await applyCount(3)
    expect(await stateOf()).toEqual([
      { id: 'main', paused: false, draining: false },
      { id: 'main/0x1', paused: false, draining: false },
      { id: 'main/0x2', paused: false, draining: false },
    ])
    expect(await claimed()).toEqual(['0x1', '0x2', '0xA'])
  })
})

describe('a relayer that moves to another account', () => {
  test('by its network takes its further accounts along, and their numbering starts over', async () => {
    const applyOn = (network: string) => {
      const relayer: RelayerConfig = { ...MAIN, network, accounts: [{ signerId: 'dev', count: 2 }] }
      const further = [{ ...relayer, id: 'main/0xB', address: '0xB', accountIndex: 1, accounts: undefined }]
      const accounts = new Map([['main', { chain: network, addresses: ['0xA'] as const, further }]])
      return applyConfig(database.db, { relayers: [relayer], notifications: [OPS], signers: [] }, accounts)
    }
    const counters = () => database.db.selectFrom('accounts').select(['relayer_id', 'next_nonce']).execute()
    await applyOn('anvil')
    await database.db.updateTable('accounts').set({ next_nonce: 7n }).execute()
    await applyOn('anvil')
    expect((await counters()).map(({ next_nonce }) => next_nonce)).toEqual([7n, 7n])
    await applyOn('sepolia')
    expect((await counters()).map(({ next_nonce }) => next_nonce)).toEqual([null, null])
  })

  test.each<[string, Applied]>([
    ['by its signer', { address: '0xB' }],
    ['by its network', { relayers: [{ ...MAIN, network: 'sepolia' }] }],
  ])('%s may do so when all is final, and its numbering starts over', async (_how, applied) => {
    await apply()
    await addTransaction('confirmed', 6n)
    await setNextNonce(7n)
    expect(await apply(applied)).toHaveLength(1)
    expect(await nextNonce()).toBeNull()
  })

  test('is refused while transactions are unfinished, and nothing changes', async () => {
    await apply()
    await addTransaction('submitted', 0n)
    await addTransaction('pending', null)
    expect(await problemsOf({ address: '0xB' })).toEqual([
      'relayer "main" cannot move from 0xA on "anvil" to 0xB on "anvil": 2 transactions are unfinished; restore the entry with "paused": true, wait until they are final or cancel them, then try again',
    ])
    expect(await findRelayer(database.db, 'main')).toMatchObject({ address: '0xA' })
  })

  test('is refused together with every other reason', async () => {
    const other = { ...MAIN, id: 'other' }
    await apply({ relayers: [MAIN, other] })
    await addTransaction('pending', null)
    await addTransaction('pending', null, 'other')
    expect(await problemsOf({ relayers: [{ ...MAIN, network: 'sepolia' }] })).toHaveLength(2)
  })
})

describe('what callers made of a record', () => {
  const nameOf = async () => (await findRelayer(database.db, 'main'))?.name
  const rename = (name: string) =>
    database.db.updateTable('relayers').set({ name }).where('id', '=', 'main').execute()
  const urls = async () =>
    (await listNotifications(database.db, { offset: 0, limit: 10 })).items.map(({ url }) => url)

  test('stays while its entry is as it was, and gives way when the entry changes', async () => {
    await apply()
    await rename('By a caller')
    await database.db.updateTable('notifications').set({ url: 'https://other.example' }).execute()
    expect(await apply()).toEqual([])
    expect(await nameOf()).toBe('By a caller')
    expect(await urls()).toEqual(['https://other.example'])

    expect(
      await apply({
        relayers: [{ ...MAIN, paused: true }],
        notifications: [{ ...OPS, signingKey: createSecret('x') }],
      }),
    ).toEqual([
      'notification "ops" updated: url from "https://other.example" to "https://hooks.example/***", hasSigningKey from false to true',
      'relayer "main" updated: name from "By a caller" to "Main", paused from false to true',
    ])
  })

  test('stays deleted until its entry changes', async () => {
    await apply()
    await database.db.transaction().execute(async (tx) => {
      await removeRelayer(tx, 'main')
      await deleteNotification(tx, 'ops')
    })
    expect(await apply()).toEqual([])
    expect(await findRelayer(database.db, 'main')).toBeUndefined()
    expect(await urls()).toEqual([])

    expect(
      await apply({
        relayers: [{ ...MAIN, name: 'Again' }],
        notifications: [{ ...OPS, url: 'https://new.example' }],
      }),
    ).toEqual([
      'notification "ops" created',
      'relayer "main" restored: name from "Main" to "Again", notificationId from nothing to "ops"',
    ])
  })
})

describe('a record that a caller created', () => {
  const theirs: RelayerConfig = { ...MAIN, id: 'theirs', signerId: 'dev' }

  async function create(relayer: RelayerConfig, address = '0xT'): Promise<void> {
    await database.db.transaction().execute(async (tx) => {
      await saveRelayer(tx, { ...relayer, address })
      await reserveAccounts(tx, [{ relayerId: relayer.id, chain: relayer.network, addresses: [address] }])
    })
  }

  test('cannot become part of a circle of top-ups, nor lose its treasury', async () => {
    await apply()
    const topUp = { from: 'main', below: 1n, to: 2n, max_per_day: 3n }
    await create({ ...MAIN, id: 'theirs', policies: { topUp } })
    const circle = { ...MAIN, policies: { topUp: { ...topUp, from: 'second' } } }
    const second = { ...MAIN, id: 'second', policies: { topUp: { ...topUp, from: 'theirs' } } }
    expect(await problemsOf({ relayers: [circle, second] })).toContain(
      'relayer "theirs" has an impossible top_up: these relayers would refill each other in a circle: theirs from main from second from theirs; one of them must have no top_up',
    )
    expect(await problemsOf({ relayers: [] })).toEqual([
      'relayer "theirs" has an impossible top_up: there is no relayer "main", which from names',
    ])
    expect(await apply()).toEqual([])
  })

  test('is left alone by a file that does not know it', async () => {
    await apply()
    await create(theirs)
    expect(await apply()).toEqual([])
    expect(await findRelayer(database.db, 'theirs')).toMatchObject({ address: '0xT' })
  })

  test('keeps its account to itself', async () => {
    await apply()
    await create(theirs)
    expect(await problemsOf({ address: '0xT' })).toEqual([
      'relayer "main": 0xT on anvil is operated by relayer "theirs" already',
    ])
    expect(await findRelayer(database.db, 'main')).toMatchObject({ address: '0xA' })
  })

  test('under the name of one of the file that was deleted keeps its own account', async () => {
    await apply()
    await database.db.transaction().execute((tx) => removeRelayer(tx, 'main'))
    await create({ ...theirs, id: 'main' })
    expect(await apply()).toEqual([])
    expect(await findRelayer(database.db, 'main')).toMatchObject({ address: '0xT' })
    const owned = await database.db.selectFrom('operated_accounts').selectAll().execute()
    expect(owned).toEqual([{ chain: 'anvil', address: '0xT', relayer_id: 'main' }])
  })

  test('under such a name with the same account keeps its own channels', async () => {
    const file: RelayerConfig = { ...MAIN, networkType: 'stellar', policies: {}, channels: 1 }
    await apply({ relayers: [file] })
    await database.db.transaction().execute(async (tx) => {
      await removeRelayer(tx, 'main')
      await saveRelayer(tx, { ...file, channels: ['lent'], address: '0xA' })
      await reserveAccounts(tx, [{ relayerId: 'main', chain: 'anvil', addresses: ['0xA', '0xLent'] }])
    })
    expect(await apply({ relayers: [file] })).toEqual([])
    const owned = await database.db.selectFrom('operated_accounts').select('address').execute()
    expect(owned.map(({ address }) => address).sort()).toEqual(['0xA', '0xLent'])
  })

  test('keeps what it refers to from leaving the file, and nothing changes', async () => {
    const dev: SignerConfig = { id: 'dev', type: 'plain', key: createSecret('x') }
    await apply({ signers: [dev] })
    await create(theirs)
    const { notificationId, ...alone } = MAIN
    expect(await problemsOf({ relayers: [alone], notifications: [], signers: [dev] })).toEqual([
      'notification "ops" cannot be removed: it is used by "theirs", created over the API; change that there first',
    ])
    expect(await problemsOf({ relayers: [{ ...MAIN, signerId: 'other' }], signers: [] })).toEqual([
      'signer "dev" cannot be removed: it is used by "theirs", created over the API; change that there first',
    ])
    expect(await findRelayer(database.db, 'main')).toMatchObject({ notificationId: 'ops', signerId: 'dev' })
  })

  test('keeps its name: a signer of the file needs another', async () => {
    await database.db
      .insertInto('signers')
      .values({ id: 'dev', type: 'plain', sealed: new Uint8Array([1]) })
      .execute()
    expect(await problemsOf({ signers: [{ id: 'dev', type: 'plain', key: createSecret('x') }] })).toEqual([
      'signer "dev" was already created over the API; delete it there, or give this one another id',
    ])
  })
})

test('two relayers of the file may change accounts with each other', async () => {
  const other: RelayerConfig = { ...MAIN, id: '0xA' }
  await apply({ relayers: [MAIN, other], address: '0xB' })
  // Now `main` has what was `0x0xA`'s, which has another network.
  expect(await apply({ relayers: [MAIN, { ...other, network: 'sepolia' }], address: '0x0xA' })).toHaveLength(
    2,
  )
})
