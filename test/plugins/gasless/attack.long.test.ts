import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { batchBy, batchOf, forwardBy, LONG_BYTES, sharing, signForward } from './sign.ts'
import {
  CHAIN_ID,
  COUNTER,
  countCall,
  type GaslessSite,
  GENEROUS,
  networkOf,
  pluginEntry,
  RELAYER,
  startGaslessSite,
} from './site.ts'

let site: GaslessSite

/** What the plugin reads. */
const READS = [
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_gasPrice',
  'eth_getCode',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
]

beforeAll(async () => {
  site = await startGaslessSite({
    entries: (known, gelatoHash) => {
      const { address, counter } = known.forwarders.openzeppelin
      const only = (selectors: readonly string[]) => ({
        networks: [
          networkOf(known, {
            forwarders: [{ address, kind: 'openzeppelin', targets: [{ address: counter, selectors }] }],
          }),
        ],
        ...GENEROUS,
      })
      return [
        pluginEntry('gasless', { networks: [networkOf(known)], ...GENEROUS }),
        pluginEntry('strict', { networks: [networkOf(known)], failures: { user: 2 } }),
        pluginEntry('busy', { networks: [networkOf(known)], failures: { all: 2 } }),
        pluginEntry('hashed', {
          networks: [
            networkOf(known, {
              delegates: [{ address: known.delegates.gelato, kind: 'gelato', code_hash: gelatoHash }],
            }),
          ],
          ...GENEROUS,
        }),
        pluginEntry('increments', only([countCall('increment')])),
        pluginEntry('multicalls', only(['0xac9650d8'])),
      ]
    },
    options: {
      network: { extra_rpc_methods: ['debug_traceTransaction'] },
      policies: {
        allow_authorization_list: true,
        allowed_rpc_methods: [...READS, 'debug_traceTransaction'],
      },
    },
  })
}, 60_000)
afterAll(() => site.stop())
afterEach(() => site.anvil.rpc('evm_setAutomine', [true]))

interface Status {
  readonly status: number
  readonly message?: string
  readonly receipt?: { readonly gasUsed: string; readonly status: string }
}

const ended = (id: Hex, mount?: string) =>
  until(
    async () => {
      await site.anvil.rpc('evm_mine')
      return (await site.call<Status>('relayer_getStatus', { id }, mount)).result as Status
    },
    ({ status }) => status !== 100 && status !== 110,
  )
const refusal = async (content: object, mount?: string) =>
  (await site.call('relayer_sendTransaction', content, mount)).error
const increment = () => [{ to: site.stranger, data: countCall('increment') }]

/** Lets something happen after a content was accepted and broadcast, and before its block. */
async function beforeBlock(content: object, happens: () => Promise<unknown>, mount?: string): Promise<Hex> {
  await site.anvil.rpc('evm_setAutomine', [false])
  const { result, error } = await site.call('relayer_sendTransaction', content, mount)
  if (result === undefined) throw new Error(`refused: ${JSON.stringify(error)}`)
  await until(
    async () => (await site.call<Status>('relayer_getStatus', { id: result }, mount)).result?.status,
    (status) => status === 110,
  )
  await happens()
  await site.anvil.rpc('evm_mine')
  await site.anvil.rpc('evm_setAutomine', [true])
  return result
}

/** A transaction of the user's own, which bids less than the relayer, and is not over before its block. */
async function endDelegation(user: PrivateKeyAccount, nonce: number): Promise<void> {
  const { anvil } = site
  await anvil.rpc('anvil_setBalance', [user.address, '0xde0b6b3a7640000'])
  const { baseFeePerGas } = await anvil.rpc<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', [
    'pending',
    false,
  ])
  const raw = await user.signTransaction({
    type: 'eip7702',
    chainId: CHAIN_ID,
    nonce,
    to: user.address,
    gas: 200_000n,
    // Of two bids, anvil takes the higher maximum first.
    maxFeePerGas: BigInt(baseFeePerGas) + 1n,
    maxPriorityFeePerGas: 0n,
    authorizationList: [
      await user.signAuthorization({
        address: '0x0000000000000000000000000000000000000000',
        chainId: CHAIN_ID,
        nonce: nonce + 1,
      }),
    ],
  })
  await anvil.rpc('eth_sendRawTransaction', [raw])
}

describe('a user who changes his account between the simulation and the block', () => {
  test('by a transaction of his own makes the authorization void, and is told that nothing was executed', async () => {
    const user = site.user()
    const id = await beforeBlock(await batchBy(site, 'gelato', user, increment()), () =>
      site.anvil.rpc('anvil_setNonce', [user.address, '0x1']),
    )
    const { status, message, receipt } = await ended(id)
    expect({ status, included: receipt?.status }).toEqual({ status: 500, included: '0x1' })
    expect(message).toContain('Nothing was executed')
    expect(await site.countOf(site.stranger, user.address)).toBe(0n)
  })

  test.each<[string, (site: GaslessSite) => string]>([
    ['no delegate', () => '0x'],
    ['another listed delegate', ({ delegates }) => `0xef0100${delegates.thirdweb.slice(2)}`],
    ['a contract that is not listed', ({ stranger }) => `0xef0100${stranger.slice(2)}`],
  ])('to %s, is told a failure', async (_, codeIn) => {
    const user = site.user()
    await site.anvil.rpc('anvil_setCode', [user.address, `0xef0100${site.delegates.gelato.slice(2)}`])
    const content = await batchBy(site, 'gelato', user, increment(), { delegated: true })
    const id = await beforeBlock(content, () => site.anvil.rpc('anvil_setCode', [user.address, codeIn(site)]))
    expect((await ended(id)).status).toBe(500)
    expect(await site.countOf(site.stranger, user.address)).toBe(0n)
  })

  test('after it in the same block, is told neither a failure nor a success, and it counts as a failure', async () => {
    const user = site.user()
    const delegate = () =>
      site.anvil.rpc('anvil_setCode', [user.address, `0xef0100${site.delegates.gelato.slice(2)}`])
    for (const [index, nonce] of [0, 2].entries()) {
      await delegate()
      const terms = { delegated: true, nonce: BigInt(index) }
      const content = await batchBy(site, 'gelato', user, increment(), terms)
      const id = await beforeBlock(content, () => endDelegation(user, nonce), 'strict')
      expect(await site.countOf(site.stranger, user.address)).toBe(BigInt(index + 1))
      const status = await until(
        async () => (await site.call<Status>('relayer_getStatus', { id }, 'strict')).result,
        (shown) => shown?.message !== undefined,
      )
      expect(status).toMatchObject({ status: 110, message: expect.stringContaining('In the same block') })
      await site.anvil.rpc('evm_mine')
    }
    await delegate()
    const next = await batchBy(site, 'gelato', user, increment(), { delegated: true, nonce: 2n })
    expect(await refusal(next, 'strict')).toMatchObject({ code: 4203 })
  })

  test('by new code of his delegate, whose code is listed, is told a failure and refused then', async () => {
    const user = site.user()
    const code = await site.anvil.rpc('eth_getCode', [site.delegates.gelato, 'latest'])
    const becomes = (next: unknown) => site.anvil.rpc('anvil_setCode', [site.delegates.gelato, next])
    const id = await beforeBlock(
      await batchBy(site, 'gelato', user, increment()),
      // It accepts everything, and does nothing.
      () => becomes('0x00'),
      'hashed',
    )
    const { status, message } = await ended(id, 'hashed')
    expect([status, message]).toEqual([500, expect.stringContaining('not the listed one')])
    const next = await batchBy(site, 'gelato', site.user(), increment())
    expect(await refusal(next, 'hashed')).toMatchObject({ code: 4001 })
    await becomes(code)
    expect(await refusal(next, 'hashed')).toBeUndefined()
  })

  test('does so twice, and is refused for the day, as are those who fail too often together', async () => {
    const user = site.user()
    for (const nonce of [0, 1]) {
      const content = await batchBy(site, 'gelato', user, increment(), { authorizationNonce: nonce })
      const id = await beforeBlock(
        content,
        () => site.anvil.rpc('anvil_setNonce', [user.address, `0x${(nonce + 1).toString(16)}`]),
        'strict',
      )
      expect((await ended(id, 'strict')).status).toBe(500)
    }
    const next = await batchBy(site, 'gelato', user, increment(), { authorizationNonce: 2 })
    expect(await refusal(next, 'strict')).toMatchObject({
      code: 4203,
      message: expect.stringContaining('2 '),
    })
    expect(await refusal(await batchBy(site, 'gelato', site.user(), increment()), 'strict')).toBeUndefined()
    for (let index = 0; index < 2; index += 1) {
      const other = site.user()
      const content = await batchBy(site, 'gelato', other, [
        { to: site.stranger, data: countCall('failInBlock') },
      ])
      expect(
        (await ended((await site.call('relayer_sendTransaction', content, 'busy')).result as Hex, 'busy'))
          .status,
      ).toBe(500)
    }
    // Those that just ended are looked up after a few seconds.
    const refused = await until(
      async () => refusal(await batchBy(site, 'gelato', site.user(), increment()), 'busy'),
      (error) => error !== undefined,
    )
    expect(refused).toMatchObject({ code: 4203 })
  })
})

describe('a user’s code that behaves in a simulation alone', () => {
  test.each<['account' | 'forwarder']>([['account'], ['forwarder']])(
    'of an %s uses no more gas than was checked, and is told as a failure',
    async (way) => {
      const user = site.user()
      const { counter } = site.forwarders.openzeppelin
      const data = countCall('burnInBlock')
      const content =
        way === 'account'
          ? await batchBy(site, 'gelato', user, [{ to: site.stranger, data }])
          : await forwardBy(site, 'openzeppelin', user, { to: counter, data, gas: 200_000n })
      const id = await site.send(content)
      const { status, receipt } = await ended(id)
      expect(status).toBe(500)
      expect(Number(receipt?.gasUsed)).toBeLessThan(way === 'account' ? 250_000 : 320_000)
    },
  )
})

describe('data that would decode to a thousand times of what it has', () => {
  const call = () => ({ to: site.stranger, value: 0n, data: LONG_BYTES })
  const calls = parseAbiParameters('(address to, uint256 value, bytes data)[] calls')
  const ROWS: readonly [string, (user: PrivateKeyAccount) => Promise<{ readonly data: Hex }>][] = [
    [
      'a batch of a forwarder',
      async (user) => {
        const terms = { to: site.forwarders.openzeppelin.counter, data: LONG_BYTES }
        return batchOf(site, [await signForward(site, 'openzeppelin', user, terms)], RELAYER)
      },
    ],
    ['an account of Calibur', (user) => batchBy(site, 'calibur', user, [call()])],
    ['an account of thirdweb', (user) => batchBy(site, 'thirdweb', user, [call()])],
    ['an account of Turnkey', (user) => batchBy(site, 'turnkey', user, [call()], { form: 'calls' })],
    [
      'an account of Turnkey, in packed bytes',
      async (user) => {
        const packed = concatHex([`0x${'00'.repeat(85)}`, sharing(encodeAbiParameters(calls, [[call()]]))])
        const abi = parseAbi(['function executeBatch(bytes data)'])
        const data = encodeFunctionData({ abi, args: [packed] })
        return { ...(await batchBy(site, 'turnkey', user, increment())), data }
      },
    ],
    [
      'an account of Gelato',
      async (user) => {
        const mode = '0x0100000000007821000100000000000000000000000000000000000000000000'
        const batch = parseAbiParameters('(address to, uint256 value, bytes data)[] calls, bytes opData')
        const execution = sharing(encodeAbiParameters(batch, [[call()], `0x${'00'.repeat(89)}`]))
        const abi = parseAbi(['function execute(bytes32 mode, bytes executionData)'])
        const data = encodeFunctionData({ abi, args: [mode, execution] })
        return { ...(await batchBy(site, 'gelato', user, increment())), data }
      },
    ],
  ]

  test.each(ROWS)(
    'is refused before it ends the process: %s',
    async (_, make) => {
      const content = await make(site.user())
      expect(await refusal({ ...content, data: sharing(content.data) })).toMatchObject({
        code: -32602,
        message: expect.stringContaining('encoded by its ABI'),
      })
    },
    60_000,
  )
})

describe('two requests with one nonce', () => {
  test('of a forwarder: one is sent, the other one is refused', async () => {
    const user = site.user()
    const { counter } = site.forwarders.minimal
    const contents = await Promise.all(
      (['increment', 'incrementSilently'] as const).map((name) =>
        forwardBy(site, 'minimal', user, { to: counter, data: countCall(name) }),
      ),
    )
    await site.anvil.rpc('evm_setAutomine', [false])
    const errors = await Promise.all(contents.map((each) => refusal(each)))
    expect(errors.filter((each) => each === undefined)).toHaveLength(1)
    expect(errors.find((each) => each !== undefined)).toMatchObject({
      code: 4001,
      message: expect.stringContaining('nonce'),
    })
  })

  test('of an account: ten at once make one transaction', async () => {
    const user = site.user()
    const contents = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        batchBy(site, 'calibur', user, Array.from({ length: index + 1 }, () => increment()).flat()),
      ),
    )
    await site.anvil.rpc('evm_setAutomine', [false])
    const errors = await Promise.all(contents.map((each) => refusal(each)))
    expect(errors.filter((each) => each === undefined)).toHaveLength(1)
  })

  test('the authorization, and different ones of the batch: the second is refused while the first waits', async () => {
    const user = site.user()
    const key = 1n << 64n
    const first = await batchBy(site, 'gelato', user, increment())
    const second = await batchBy(site, 'gelato', user, increment(), { nonce: key })
    await site.anvil.rpc('evm_setAutomine', [false])
    const id = await site.send(first)
    expect(await refusal(second)).toMatchObject({
      code: 4210,
      message: expect.stringContaining('waits for its block'),
    })
    await site.anvil.rpc('evm_setAutomine', [true])
    expect((await ended(id)).status).toBe(200)
    const { authorizationList: _, ...bare } = second
    expect((await ended(await site.send(bare))).status).toBe(200)
  })
})

describe('a batch of forwarded requests', () => {
  test('of which a stranger has sent one before makes the others, and tells it as skipped', async () => {
    const [front, other] = [site.user(), site.user()]
    const terms = { to: site.forwarders.openzeppelin.counter, data: countCall('increment') }
    const signed = [
      await signForward(site, 'openzeppelin', front, terms),
      await signForward(site, 'openzeppelin', other, terms),
    ]
    const [first] = signed
    const alone = batchOf(site, first ? [first] : [], '0x0000000000000000000000000000000000000000')
    const id = await beforeBlock(batchOf(site, signed, RELAYER), () =>
      site.anvil.rpc('eth_sendTransaction', [
        { from: OUTSIDER, to: alone.to, data: alone.data, gas: '0x4c4b40', gasPrice: '0x2540be40000' },
      ]),
    )
    const { status, message } = await ended(id)
    expect(status).toBe(500)
    expect(message).toContain('requests[0] was skipped')
    expect(await site.countOf(terms.to, other.address)).toBe(1n)
    expect(await site.countOf(terms.to, front.address)).toBe(1n)
  })
})

const OUTSIDER = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

describe('the target of a forwarder', () => {
  const forwarded = async (data: Hex, to = site.forwarders.openzeppelin.counter) =>
    forwardBy(site, 'openzeppelin', site.user(), { to, data })

  test('is called for listed functions alone', async () => {
    expect(await refusal(await forwarded(countCall('increment')), 'increments')).toBeUndefined()
    for (const data of [countCall('incrementSilently'), '0x', '0x12'] as const)
      expect(await refusal(await forwarded(data), 'increments')).toMatchObject({ code: 4001 })
    expect(await refusal(await forwarded(countCall('increment'), site.stranger), 'increments')).toMatchObject(
      { code: 4001 },
    )
  })

  test('counts for a victim whose address is appended to an inner call, so several calls in one need to be listed', async () => {
    const victim = privateKeyToAccount(generatePrivateKey()).address
    const spoofed: Hex = `${countCall('increment')}${victim.slice(2)}`
    const data = encodeFunctionData({ abi: COUNTER, functionName: 'multicall', args: [[spoofed]] })
    const { counter } = site.forwarders.openzeppelin
    expect(await refusal(await forwarded(data))).toMatchObject({ code: 4001 })
    expect(await refusal(await forwarded(data), 'increments')).toMatchObject({ code: 4001 })
    expect(await site.countOf(counter, victim)).toBe(0n)
    // Who lists it has what the attack of December 2023 did.
    const id = (await site.call('relayer_sendTransaction', await forwarded(data), 'multicalls')).result as Hex
    expect((await ended(id, 'multicalls')).status).toBe(200)
    expect(await site.countOf(counter, victim)).toBe(1n)
  })
})

describe('a forwarder that carries on after a failed call, with nodes that make traces', () => {
  test.each<['incrementSilently' | 'failInBlock', number]>([
    ['incrementSilently', 200],
    ['failInBlock', 500],
  ])('proves that %s ended with %s', async (name, expected) => {
    const { counter } = site.forwarders.minimal
    const id = await site.send(
      await forwardBy(site, 'minimal', site.user(), { to: counter, data: countCall(name) }),
    )
    expect((await ended(id)).status).toBe(expected)
  })
})
