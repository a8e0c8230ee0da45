import { concatHex, type Hex, keccak256, numberToHex, parseAbi, toHex, zeroAddress } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { batchBy, batchOf, forwardBy, type Sent, signForward } from '../../../test/plugins/gasless/sign.ts'
import { operationBy, placeOperationContracts } from '../../../test/plugins/gasless/sign-operation.ts'
import {
  type AccountName,
  CHAIN_ID,
  countCall,
  type ForwarderName,
  networkOf,
  RELAYER,
  startGaslessContracts,
} from '../../../test/plugins/gasless/site.ts'
import { anvilNetwork, ON_ANVIL } from '../../../test/support/anvil.ts'
import { type FaultyNode, type Habits, startFaultyNode } from '../../../test/support/faulty-node.ts'
import type { Random } from '../../../test/support/random.ts'
import { DEV_KEYS, plainSigner } from '../../../test/support/service.ts'
import { type ChainConfig, MAX_GAS } from './front-chain.ts'

/**
 * The one who decides in the block whether it works. `listed`: a contract that the operator lists · `open`: a
 * contract behind a forwarder that nobody listed · `account`: the account of a user, and what he calls ·
 * `operation`: such an account that only an EntryPoint may call.
 */
export type RequestKind = 'listed' | 'open' | 'account' | 'operation'

/** The part of a request that one user has signed. */
export interface Part {
  /** In lower case. */
  readonly user: Hex
  /** 32 bytes that its call data has, and no other. */
  readonly mark: Hex
}

/** A signed request, and what can happen to it outside of the service. */
export interface Order {
  readonly content: Sent
  readonly parts: readonly Part[]
  readonly kind: RequestKind
  /** The contract fails in the block, and succeeds where it is simulated. */
  readonly isHostile: boolean
  /** Someone else sends it. Absent where only the relayer can. */
  sendFirst?(): Promise<unknown>
  /** The user makes it void, before it or after it in the same block. */
  takeBack(): Promise<unknown>
}

/** A transaction of the chain that calls something of a user. */
export interface Included {
  readonly hash: Hex
  readonly isOurs: boolean
  readonly to: Hex
  readonly input: Hex
  /** The users for whom a contract has counted in it, once for each time. */
  readonly counted: readonly Hex[]
  /** In the chain's smallest unit. */
  readonly fee: bigint
  readonly gasLimit: number
}

/** Anvil with contracts of users, and a node in front of it that can fail. */
export interface GaslessChain {
  readonly node: FaultyNode
  readonly lies: Readonly<Record<string, Habits>>
  readonly config: ChainConfig
  /** The configuration of the plugin for its only network. */
  readonly network: object
  /** The addresses that may be called with data, in lower case, besides users. */
  readonly listed: readonly Hex[]
  readonly blockMs: number
  /** The most that a request that fails costs. */
  readonly maxFee: bigint
  makeBlock(): Promise<unknown>
  /** Requests of one user, which compete for nothing unless they have the same nonce. */
  order(
    kind: RequestKind,
    how?: { isHostile?: boolean; count?: number; sameNonce?: boolean },
  ): Promise<Order[]>
  /** One request of several users. */
  orderTogether(users: number): Promise<Order>
  /** Reads a transaction; undefined while no block has it. */
  included(hash: string): Promise<Included | undefined>
  /** Reads all transactions since the contracts are there. */
  walk(): Promise<readonly Included[]>
  /** The number that all contracts have counted for a user. */
  countOf(user: Hex): Promise<number>
  stop(): Promise<unknown>
}

/** Accounts of anvil that no relayer has. */
const STRANGER = '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f'

/** More than any block charges; who bids it is first. */
const PRICE = 100_000_000_000n

/** An estimate that a node says every other time. */
const DEAR_GAS = '0x895440'

const COUNTED = keccak256(toHex('Counted(address,uint256)'))

const OPEN_FORWARDERS: readonly ForwarderName[] = ['minimal', 'thirdweb', 'thirdweb_chainless']
const ACCOUNTS: readonly AccountName[] = ['gelato', 'calibur', 'thirdweb', 'turnkey']

/**
 * The methods that the plugin reads with, and the one that tells whether a forwarder's call of a user
 * succeeded.
 */
const READS = [
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getCode',
  'eth_getStorageAt',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'debug_traceTransaction',
]

/** Starts anvil and the contracts. Blocks are made when it is told. */
export async function startGaslessChain(random: Random, rules: object): Promise<GaslessChain> {
  const site = await startGaslessContracts()
  const { anvil, forwarders, delegates, stranger } = site
  const { rpc } = anvil
  const operations = await placeOperationContracts(site, RELAYER)
  const entryPoint = operations.entryPoints['8']
  const node = await startFaultyNode(anvil.url)
  await rpc('evm_setAutomine', [false])
  const first = Number(await rpc<Hex>('eth_blockNumber')) + 1
  const counters = [stranger, ...Object.values(forwarders).map(({ counter }) => counter)]

  // One after the other: anvil gives two at the same moment the same nonce.
  let last: Promise<unknown> = Promise.resolve()
  const send = ({ to, data }: Pick<Sent, 'to' | 'data'>) => {
    const price = numberToHex(PRICE)
    const call = {
      from: STRANGER,
      to,
      data,
      gas: '0x7a120',
      maxFeePerGas: price,
      maxPriorityFeePerGas: price,
    }
    const sent = last.then(() => rpc('eth_sendTransaction', [call]))
    last = sent.catch(() => undefined)
    return sent
  }

  const marked = (name: Parameters<typeof countCall>[0]) => {
    const mark = concatHex(
      Array.from({ length: 8 }, () => numberToHex(random.int(0, 2 ** 32 - 1), { size: 4 })),
    )
    return { mark, data: concatHex([countCall(name), mark]) }
  }

  async function forward(
    name: ForwarderName,
    user: PrivateKeyAccount,
    { isHostile, nonce }: { readonly isHostile: boolean; readonly nonce: bigint },
  ): Promise<Order> {
    const { counter: to } = forwarders[name]
    const { mark, data } = marked(isHostile ? 'failInBlock' : 'increment')
    const content = await forwardBy(site, name, user, { to, data, nonce })
    return {
      content,
      parts: [{ user: lower(user.address), mark }],
      kind: name === 'openzeppelin' ? 'listed' : 'open',
      isHostile,
      sendFirst: () => send(content),
      // Another request has the nonce then.
      takeBack: async () =>
        send(await forwardBy(site, name, user, { to, data: countCall('increment'), nonce })),
    }
  }

  /** A transaction of the user's own: it uses his nonce, and ends the delegation. */
  async function clear(user: PrivateKeyAccount): Promise<void> {
    const nonce = Number(await rpc<Hex>('eth_getTransactionCount', [user.address, 'latest']))
    await rpc('anvil_setBalance', [user.address, '0xde0b6b3a7640000'])
    const { baseFeePerGas } = await rpc<{ baseFeePerGas: Hex }>('eth_getBlockByNumber', ['pending', false])
    // A higher bid comes before the relayer; one that a block just accepts comes after it.
    const price = random.chance(0.5) ? PRICE : BigInt(baseFeePerGas) + 1n
    const raw = await user.signTransaction({
      type: 'eip7702',
      chainId: CHAIN_ID,
      nonce,
      to: user.address,
      gas: 200_000n,
      maxFeePerGas: price,
      maxPriorityFeePerGas: price === PRICE ? price : 0n,
      authorizationList: [
        await user.signAuthorization({ address: zeroAddress, chainId: CHAIN_ID, nonce: nonce + 1 }),
      ],
    })
    await rpc('eth_sendRawTransaction', [raw])
  }

  async function batch(
    name: AccountName,
    user: PrivateKeyAccount,
    { isHostile, nonce, delegated }: { isHostile: boolean; nonce: bigint; delegated: boolean },
  ): Promise<Order> {
    const hostile = random.pick(['failInBlock', 'burnInBlock'] as const)
    const { mark, data } = marked(isHostile ? hostile : 'increment')
    const content = await batchBy(site, name, user, [{ to: stranger, data }], { nonce, delegated })
    return {
      content,
      parts: [{ user: lower(user.address), mark }],
      kind: 'account',
      isHostile,
      ...(delegated && { sendFirst: () => send(content) }),
      takeBack: () => clear(user),
    }
  }

  async function operation(
    user: PrivateKeyAccount,
    { isHostile, nonce, delegated }: { isHostile: boolean; nonce: bigint; delegated: boolean },
  ): Promise<Order> {
    const { mark, data } = marked(isHostile ? 'failInBlock' : 'increment')
    const terms = { nonce, begins: !delegated }
    const content = await operationBy(site, operations, { user, call: { to: stranger, data }, terms })
    return {
      content,
      parts: [{ user: lower(user.address), mark }],
      kind: 'operation',
      isHostile,
      ...(delegated && { sendFirst: () => send(content) }),
      takeBack: () => clear(user),
    }
  }

  const order: GaslessChain['order'] = async (
    kind,
    { isHostile = false, count = 1, sameNonce = false } = {},
  ) => {
    const user = site.user()
    const orders: Order[] = []
    if (kind === 'operation') {
      const delegated = count > 1 || random.chance(0.4)
      if (delegated) await rpc('anvil_setCode', [user.address, `0xef0100${operations.delegate.slice(2)}`])
      for (let index = 0; index < count; index += 1) {
        const nonce = sameNonce ? 0n : BigInt(index) << 64n
        orders.push(await operation(user, { isHostile, nonce, delegated }))
      }
      return orders
    }
    if (kind === 'account') {
      // Only some have nonces that do not wait for each other.
      const name = random.pick(count === 1 ? ACCOUNTS : (['gelato', 'calibur'] as const))
      const delegated = count > 1 || random.chance(0.4)
      if (delegated) await rpc('anvil_setCode', [user.address, `0xef0100${delegates[name].slice(2)}`])
      for (let index = 0; index < count; index += 1) {
        const nonce = sameNonce ? 0n : BigInt(index) << 64n
        orders.push(await batch(name, user, { isHostile, nonce, delegated }))
      }
      return orders
    }
    const name = kind === 'listed' ? 'openzeppelin' : random.pick(OPEN_FORWARDERS)
    for (let index = 0; index < count; index += 1)
      orders.push(await forward(name, user, { isHostile, nonce: sameNonce ? 0n : BigInt(index) }))
    return orders
  }

  const orderTogether: GaslessChain['orderTogether'] = async (count) => {
    const { counter: to } = forwarders.openzeppelin
    const users = Array.from({ length: count }, () => site.user())
    const calls = users.map((user) => ({ user, ...marked('increment') }))
    const signed = await Promise.all(
      calls.map(({ user, data }) =>
        signForward(site, 'openzeppelin', user, { to, data, nonce: 0n, gas: 60_000n }),
      ),
    )
    const [one] = signed
    return {
      content: batchOf(site, signed, RELAYER),
      parts: calls.map(({ user, mark }) => ({ user: lower(user.address), mark })),
      kind: 'listed',
      isHostile: false,
      // Somebody sends the request of one of them before.
      takeBack: () => send(batchOf(site, one ? [one] : [], zeroAddress)),
    }
  }

  const included: GaslessChain['included'] = async (hash) => {
    const [transaction, receipt] = await Promise.all([
      rpc<BlockTransaction | null>('eth_getTransactionByHash', [hash]),
      rpc<Receipt | null>('eth_getTransactionReceipt', [hash]),
    ])
    return transaction && receipt ? readIncluded(transaction, receipt) : undefined
  }

  let estimates = 0
  return {
    node,
    lies: {
      'is behind': { behind: 2 },
      'denies receipts': {
        lie: ({ method }, reply) =>
          method === 'eth_getTransactionReceipt' ? { ...reply, result: null } : reply,
      },
      'has no traces': {
        refuse: ({ method }) =>
          method === 'debug_traceTransaction' ? { code: -32_601, message: 'not here' } : undefined,
      },
      'fails simulations': {
        refuse: ({ method }) =>
          method === 'eth_call' || method === 'eth_estimateGas'
            ? { code: 3, message: 'execution reverted: as it likes' }
            : undefined,
      },
      'finds every other call dear': {
        lie: ({ method }, reply) => {
          if (method !== 'eth_estimateGas') return reply
          estimates += 1
          return estimates % 2 === 1 ? reply : { ...reply, result: DEAR_GAS }
        },
      },
    },
    config: {
      relayers: [
        {
          id: 'main',
          name: 'Main',
          signer_id: 'dev-0',
          ...ON_ANVIL,
          policies: { rules, allow_authorization_list: true, allowed_rpc_methods: READS },
        },
      ],
      signers: [plainSigner('dev-0', DEV_KEYS[0])],
      networks: [
        anvilNetwork([node.url], {
          required_confirmations: 1,
          extra_rpc_methods: ['debug_traceTransaction'],
        }),
      ],
    },
    network: networkOf(site, {
      max_gas: MAX_GAS,
      entry_points: [{ address: entryPoint }],
      delegates: [
        ...ACCOUNTS.map((kind) => ({ address: delegates[kind], kind })),
        { address: operations.delegate, kind: 'entry_point' },
      ],
      forwarders: Object.entries(forwarders).map(([kind, { address, counter }]) => ({
        kind,
        address,
        ...(kind === 'openzeppelin' && { targets: [{ address: counter }] }),
      })),
    }),
    listed: [entryPoint, ...Object.values(forwarders).map(({ address }) => address)],
    blockMs: 400,
    maxFee: BigInt(MAX_GAS) * PRICE,
    makeBlock: () => rpc('evm_mine'),
    order,
    orderTogether,
    included,
    walk: async () => {
      const end = Number(await rpc<Hex>('eth_blockNumber'))
      const all: Included[] = []
      for (let number = first; number <= end; number += 1) {
        const [block, receipts] = await Promise.all([
          rpc<{ transactions: BlockTransaction[] }>('eth_getBlockByNumber', [numberToHex(number), true]),
          rpc<Receipt[]>('eth_getBlockReceipts', [numberToHex(number)]),
        ])
        for (const [index, transaction] of block.transactions.entries()) {
          const receipt = receipts[index]
          if (receipt !== undefined) all.push(readIncluded(transaction, receipt))
        }
      }
      return all
    },
    countOf: async (user) => {
      const counts = await Promise.all(
        counters.map((counter) => site.read<bigint>(counter, COUNTS, 'counts', [user])),
      )
      return Number(counts.reduce((sum, each) => sum + each, 0n))
    },
    stop: async () => {
      await node.stop()
      await anvil.stop()
    },
  }
}

const COUNTS = parseAbi(['function counts(address by) view returns (uint256)'])

interface BlockTransaction {
  readonly hash: Hex
  readonly from: Hex
  readonly to: Hex | null
  readonly input: Hex
  readonly gas: Hex
}

interface Receipt {
  readonly gasUsed: Hex
  readonly effectiveGasPrice: Hex
  readonly logs: readonly { readonly topics: readonly Hex[] }[]
}

function readIncluded({ hash, from, to, input, gas }: BlockTransaction, receipt: Receipt): Included {
  return {
    hash,
    isOurs: lower(from) === RELAYER,
    to: lower(to ?? zeroAddress),
    input,
    counted: receipt.logs.flatMap(({ topics: [topic, by] }) =>
      topic === COUNTED && by !== undefined ? [lower(`0x${by.slice(26)}`)] : [],
    ),
    fee: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice),
    gasLimit: Number(gas),
  }
}

function lower(address: string): Hex {
  return address.toLowerCase() as Hex
}
