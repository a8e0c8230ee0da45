import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import type { AppError } from '../../src/errors.ts'
import { createNetworkDirectory } from '../../src/networks/directory.ts'
import type { EvmNetwork, Network } from '../../src/networks/network.ts'
import type { ManageContext } from '../../src/relayers/manage/context.ts'
import { createRelayerManager } from '../../src/relayers/manage/manager.ts'
import type { Relayer, RelayerConfig } from '../../src/relayers/relayer.ts'
import { findRelayer, setSystemDisabled } from '../../src/relayers/store.ts'
import { createKey } from '../../src/signers/key.ts'
import { saveConfiguredSigner } from '../../src/signers/store.ts'
import { emptyDatabase, openTestDatabase } from '../support/database.ts'
import { ACTOR } from '../support/samples.ts'

let database: Database

beforeAll(async () => {
  database = await openTestDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  await emptyDatabase(database)
  await database.db.transaction().execute((tx) => saveConfiguredSigner(tx, { id: 'dev', type: 'plain' }))
})

const NETWORK: EvmNetwork = {
  type: 'evm',
  name: 'anvil',
  isTestnet: true,
  averageBlocktimeMs: 1000,
  requiredConfirmations: 1,
  finality: 'depth',
  rpcUrls: [],
  chainId: 31337,
  symbol: 'ETH',
  txFeeCap: 10n ** 18n,
  features: [],
  mempool: true,
}

const RELAYER: RelayerConfig = {
  id: 'new',
  name: 'New',
  network: 'anvil',
  networkType: 'evm',
  signerId: 'dev',
  paused: false,
  policies: {},
}

const GIVEN = { url: 'https://rpc.example/key', weight: 100, untrusted: true } as const

/** A manager of callers' relayers; `asked` are the networks whose endpoints it has asked. */
function manager(deps: Partial<ManageContext> = {}) {
  const asked: Network[] = []
  const key = createKey('dev', new Uint8Array(32).fill(7))
  const made = createRelayerManager({
    db: database.db,
    networks: createNetworkDirectory(
      [{ ...NETWORK, rpcUrls: [{ url: 'http://127.0.0.1:9', weight: 1 }] }],
      [],
    ),
    findKey: async (id) => (id === 'dev' ? key : undefined),
    verify: async (network) => {
      asked.push(network)
      return { kind: 'ok', value: undefined }
    },
    bounds: { initialOf: () => ({}), check: () => {}, lower: (relayer) => ({ relayer, lowered: [] }) },
    allowPrivateUrls: false,
    prepare: () => expect.unreachable('nothing asks for the chain'),
    checked: async (relayer) => relayer,
    reportKey: async () => {},
    ...deps,
  })
  return { ...made, asked }
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: AppError) => error.code,
  )
const disable = (id: string) =>
  database.db
    .transaction()
    .execute((tx) => setSystemDisabled(tx, id, { type: 'BalanceCheckFailed', details: 'empty' }))
const rename = (name: string) => (relayer: Relayer) => ({ ...relayer, name })

describe('a relayer', () => {
  test('is given as it is after its check', async () => {
    const checked = async (relayer: Relayer) => ({ ...relayer, systemDisabled: true })
    const { relayer } = await manager({ checked }).create(RELAYER, ACTOR)
    expect(relayer.systemDisabled).toBe(true)
    const richer = (one: Relayer) => ({ ...one, policies: { minBalance: 5n } }) as Relayer
    const changed = await manager({ checked }).change('new', richer, ACTOR)
    expect(changed.relayer).toMatchObject({ policies: { minBalance: 5n }, systemDisabled: true })
    // Its name says nothing about its health.
    const renamed = await manager({ checked }).change('new', rename('Changed'), ACTOR)
    expect(renamed.relayer).toMatchObject({ name: 'Changed', systemDisabled: false })
  })

  test('that the service has disabled can be changed, and stays disabled', async () => {
    await manager().create(RELAYER, ACTOR)
    await disable('new')
    const { relayer } = await manager().change('new', rename('Changed'), ACTOR)
    expect(relayer).toMatchObject({ name: 'Changed', systemDisabled: true })
  })

  test('that was deleted begins enabled when it is created again', async () => {
    await manager().create(RELAYER, ACTOR)
    await disable('new')
    await manager().delete('new', ACTOR)
    expect((await manager().create(RELAYER, ACTOR)).relayer).not.toHaveProperty('disabledReason')
    expect(await findRelayer(database.db, 'new')).toMatchObject({ systemDisabled: false })
  })

  test('without any endpoint to ask is refused', async () => {
    const networks = createNetworkDirectory([], [NETWORK])
    expect(await codeOf(manager({ networks }).create(RELAYER, ACTOR))).toBe('invalid_request')
    const own = { ...RELAYER, customRpcUrls: [GIVEN] }
    expect(await codeOf(manager({ networks }).create(own, ACTOR))).toBe('done')
    const back = manager({ networks }).change('new', ({ customRpcUrls, ...relayer }) => relayer, ACTOR)
    expect(await codeOf(back)).toBe('invalid_request')
  })

  test('of a signer that was deleted is refused, although its key is loaded', async () => {
    await database.db.deleteFrom('signers').execute()
    expect(await codeOf(manager().create(RELAYER, ACTOR))).toBe('signer_not_found')
    expect(await findRelayer(database.db, 'new')).toBeUndefined()
  })

  test('is not deleted twice', async () => {
    await manager().create(RELAYER, ACTOR)
    const answers = await Promise.all([
      codeOf(manager().delete('new', ACTOR)),
      codeOf(manager().delete('new', ACTOR)),
    ])
    expect(answers.sort()).toEqual(['done', 'relayer_not_found'])
  })
})

describe('endpoints of a caller', () => {
  test('are asked when they are new, and only then', async () => {
    const { create, change, asked } = manager()
    await create({ ...RELAYER, customRpcUrls: [GIVEN] }, ACTOR)
    await change('new', rename('Changed'), ACTOR)
    await change('new', (relayer) => ({ ...relayer, customRpcUrls: [GIVEN] }), ACTOR)
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ name: 'anvil', rpcUrls: [GIVEN] })
    await change('new', (relayer) => ({ ...relayer, customRpcUrls: [{ ...GIVEN, weight: 1 }] }), ACTOR)
    expect(asked).toHaveLength(2)
    expect(await findRelayer(database.db, 'new')).toMatchObject({
      name: 'Changed',
      customRpcUrls: [{ ...GIVEN, weight: 1 }],
    })
  })

  test('that do not answer are taken, and the caller is told', async () => {
    const verify = async () => ({ kind: 'unknown', detail: 'no answer' }) as const
    const { logs } = await manager({ verify }).create({ ...RELAYER, customRpcUrls: [GIVEN] }, ACTOR)
    expect(logs).toHaveLength(1)
  })

  test('may lead to private networks only where that is allowed', async () => {
    const own = { ...RELAYER, customRpcUrls: [{ ...GIVEN, url: 'http://10.0.0.7/' }] }
    expect(await codeOf(manager().create(own, ACTOR))).toBe('invalid_request')
    expect(await codeOf(manager({ allowPrivateUrls: true }).create(own, ACTOR))).toBe('done')
  })
})
