import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { applyConfig } from '../../src/config/apply.ts'
import type { Database } from '../../src/database/db.ts'
import type { NotificationConfig } from '../../src/notifications/notification.ts'
import { listNotifications } from '../../src/notifications/store.ts'
import type { RelayerAccounts } from '../../src/relayers/accounts/accounts.ts'
import type { EvmRelayerConfig, Relayer, RelayerConfig } from '../../src/relayers/relayer.ts'
import { columnsOf, toRelayer } from '../../src/relayers/relayer-codec.ts'
import {
  allRelayers,
  findRelayer,
  listRelayers,
  lockRelayers,
  pagesOfRelayers,
  setSystemDisabled,
} from '../../src/relayers/store.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'

describe('the store of relayers', () => {
  let database: Database

  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.close())
  beforeEach(() => emptyDatabase(database))

  const relayer = (id: string): EvmRelayerConfig => ({
    id,
    name: id,
    network: 'anvil',
    networkType: 'evm',
    signerId: 'dev',
    paused: false,
    policies: {},
  })
  const notification = (id: string): NotificationConfig => ({
    id,
    type: 'webhook',
    url: `https://${id}.example`,
  })

  async function store(relayers: RelayerConfig[], notifications: NotificationConfig[] = []): Promise<void> {
    const accounts = new Map(
      relayers.map(({ id }): [string, RelayerAccounts] => [id, { chain: 'anvil', addresses: [`0x${id}`] }]),
    )
    await applyConfig(database.db, { relayers, notifications, signers: [] }, accounts)
  }

  /** [offset, limit, ids expected] of the list a, b, c */
  const RANGES: [number, number, string[]][] = [
    [0, 10, ['a', 'b', 'c']],
    [0, 2, ['a', 'b']],
    [2, 2, ['c']],
    [3, 2, []],
    [0, 0, []],
  ]

  describe('relayers', () => {
    test.each(RANGES)(
      'from %d at most %d are listed in order, with the true total',
      async (offset, limit, ids) => {
        await store([relayer('c'), relayer('a'), relayer('b')])
        const { items, total } = await listRelayers(database.db, { offset, limit })
        expect(items.map(({ id }) => id)).toEqual(ids)
        expect(total).toBe(3)
      },
    )

    test('that came later are listed later', async () => {
      await store([relayer('z')])
      await store([relayer('a'), relayer('z')])
      const { items } = await listRelayers(database.db, { offset: 0, limit: 10 })
      expect(items.map(({ id }) => id)).toEqual(['z', 'a'])
    })

    test('come back with every field', async () => {
      const full: EvmRelayerConfig = {
        ...relayer('full'),
        name: 'Full',
        paused: true,
        notificationId: 'ops',
        policies: {
          gasPriceCap: 2n ** 128n - 1n,
          minBalance: 0n,
          eip1559Pricing: false,
          whitelistReceivers: ['0xab'],
        },
        customRpcUrls: [{ url: 'https://a/key', weight: 1 }],
      }
      await store([full], [notification('ops')])
      expect(await findRelayer(database.db, 'full')).toEqual({
        ...full,
        address: '0xfull',
        systemDisabled: false,
      })
    })

    test('without optional fields come back without them', async () => {
      await store([relayer('bare')])
      expect(await findRelayer(database.db, 'bare')).toStrictEqual({
        ...relayer('bare'),
        address: '0xbare',
        systemDisabled: false,
      })
    })

    test('are read page by page, in order and each once, whatever they have in common', async () => {
      const { db } = database
      // Times of the database are more precise than those of this program.
      await sql`
      insert into relayers (id, name, network, network_type, address, signer_id, paused, policies, created_at, removed_at)
      select 'r' || n, '', 'anvil', 'evm', '0x' || n, 'dev', false, '{}', now() + (n / 300) * interval '1 microsecond',
        case when n % 100 = 7 then now() end
      from generate_series(1, 1200) n`.execute(db)
      const pages: Relayer[][] = []
      for await (const page of pagesOfRelayers(db)) pages.push(page)
      expect(pages.map(({ length }) => length)).toEqual([500, 500, 188])
      const rows = await sql<{ id: string }>`
      select id from relayers where removed_at is null order by created_at, id`.execute(db)
      const ids = rows.rows.map(({ id }) => id)
      expect(pages.flat().map(({ id }) => id)).toEqual(ids)
      expect((await allRelayers(db)).map(({ id }) => id)).toEqual(ids)
      const stored = await db.transaction().execute(lockRelayers)
      expect(stored.size).toBe(1200)
      expect([...stored.values()].filter(({ removed }) => removed)).toHaveLength(12)
    })

    test('that fill a page are read once', async () => {
      await sql`
      insert into relayers (id, name, network, network_type, address, signer_id, paused, policies)
      select 'r' || n, '', 'anvil', 'evm', '0x' || n, 'dev', false, '{}' from generate_series(1, 500) n`.execute(
        database.db,
      )
      expect(await allRelayers(database.db)).toHaveLength(500)
    })

    test('that are unknown are not found', async () => {
      expect(await findRelayer(database.db, 'nobody')).toBeUndefined()
    })

    test('are switched off with a reason and on again', async () => {
      await store([relayer('a')])
      const reason = { type: 'NonceSyncFailed', details: 'no answer' } as const
      await database.db.transaction().execute((tx) => setSystemDisabled(tx, 'a', reason))
      expect(await findRelayer(database.db, 'a')).toMatchObject({
        systemDisabled: true,
        disabledReason: reason,
      })
      await database.db.transaction().execute((tx) => setSystemDisabled(tx, 'a', null))
      const again = await findRelayer(database.db, 'a')
      expect(again).toMatchObject({ systemDisabled: false })
      expect(again).not.toHaveProperty('disabledReason')
    })
  })

  describe('notifications', () => {
    test.each(RANGES)(
      'from %d at most %d are listed in order, with the true total',
      async (offset, limit, ids) => {
        await store([], [notification('b'), notification('c'), notification('a')])
        const { items, total } = await listNotifications(database.db, { offset, limit })
        expect(items.map(({ id }) => id)).toEqual(ids)
        expect(total).toBe(3)
      },
    )
  })
})

type Row = Parameters<typeof toRelayer>[0]

const ROW: Row = {
  id: 'r1',
  pool_id: 'r1',
  accounts: null,
  account_index: null,
  draining: false,
  name: 'One',
  network: 'testnet',
  network_type: 'stellar',
  address: 'GOWN',
  signer_id: 'dev',
  notification_id: null,
  paused: false,
  system_disabled: false,
  disabled_reason: null,
  policies: {},
  custom_rpc_urls: null,
  channels: null,
  created_at: new Date(0),
  removed_at: null,
  failed_checks: 0,
}

test.each<[string, object, string]>([
  ['network type', { network_type: 'sui' }, 'network type "sui" is unknown'],
  [
    'disabled reason',
    { disabled_reason: { type: 'Tired', details: '' } },
    'stored disabled reason has the unknown type "Tired"',
  ],
  ['policy', { policies: { gasPriceCap: '1' } }, 'stored policies are unknown: gasPriceCap'],
  ['value of a policy', { policies: { maxFee: 'much' } }, 'stored policy maxFee has the value "much"'],
  [
    'form of channels',
    { channels: { count: 2 } },
    'stored channels are neither a number nor a list of signers: {"count":2}',
  ],
])('a stored relayer with an unknown %s is an error that names it', (_what, change, problem) => {
  expect(() => toRelayer({ ...ROW, ...change })).toThrow(`stored relayer "r1" cannot be read: ${problem}`)
})

test.each([[2], [['one', 'two']]])('channels survive the database: %j', (channels) => {
  const relayer = { ...toRelayer(ROW), networkType: 'stellar' as const, policies: {}, channels }
  const stored = columnsOf(relayer).channels
  expect(toRelayer({ ...ROW, channels: JSON.parse(stored ?? 'null') })).toMatchObject({ channels })
})
