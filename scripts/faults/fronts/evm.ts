import { encodeAbiParameters, type Hex, keccak256, parseAbi } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { TWO_FACED_TOKEN_CODE, TWO_FACED_WALLET_CODE } from '../../../test/plugins/x402/contract-code.ts'
import { cancelCall, paymentBy, transferCall } from '../../../test/plugins/x402/evm-payment.ts'
import { NETWORK, RELAYER, startEvmSite, TOKEN } from '../../../test/plugins/x402/evm-site.ts'
import { anvilNetwork, ON_ANVIL } from '../../../test/support/anvil.ts'
import { type FaultyNode, startFaultyNode } from '../../../test/support/faulty-node.ts'
import type { Random } from '../../../test/support/random.ts'
import { DEV_KEYS, plainSigner, RECEIVER } from '../../../test/support/service.ts'
import { AMOUNT, type FrontChain, MAX_GAS, type Order, type Relayed } from './front-chain.ts'

/** `AuthorizationUsed(address,bytes32)` and `Transfer(address,address,uint256)` */
const USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const WALLET = parseAbi(['constructor(bool burns)'])

/** Accounts of anvil that no relayer has. */
const STRANGER = '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f'

/** More than any block charges; who bids it is first. */
const PRICE = 100_000_000_000n

/** Contracts that pay. */
const WALLETS = 8

/** Where the token has its balances among its variables. */
const BALANCES = 2n

/** An estimate that a token says every other time. */
const DEAR_GAS = '0x895440'

/** Starts anvil with a token, and a node in front of it that can fail. */
export async function startEvmFront(random: Random, rules: object): Promise<FrontChain> {
  let node: FaultyNode | undefined
  const nothing = { url: '', api: () => Promise.reject(new Error('none')), stop: async () => undefined }
  const site = await startEvmSite(
    {},
    ['--no-mining'],
    async (anvil) => {
      node = await startFaultyNode(anvil.url)
      return node.url
    },
    async () => nothing,
  )
  if (node === undefined) throw new Error('it was started with the site')
  const { anvil, token } = site
  const { rpc } = anvil
  // One after the other: anvil gives two at the same moment the same nonce.
  let last: Promise<unknown> = Promise.resolve()
  const send = (to: Hex, data: Hex, from: Hex = STRANGER) => {
    const call = {
      from,
      to,
      data,
      gas: '0x7a120',
      maxFeePerGas: `0x${PRICE.toString(16)}`,
      maxPriorityFeePerGas: `0x${PRICE.toString(16)}`,
    }
    const sent = last.then(() => rpc('eth_sendTransaction', [call]))
    last = sent.catch(() => undefined)
    return sent
  }

  async function paidIn(at: Hex, from: Hex, nonce: Hex): Promise<string | undefined> {
    const topics = [USED, padded(from), nonce]
    const logs = await rpc<{ transactionHash: Hex }[]>('eth_getLogs', [
      { address: at, topics, fromBlock: '0x0', toBlock: 'latest' },
    ])
    const [used] = logs
    if (used === undefined) return undefined
    const receipt = await rpc<{ logs: Log[] }>('eth_getTransactionReceipt', [used.transactionHash])
    const index = receipt.logs.findIndex(({ topics: [name, , third] }) => name === USED && third === nonce)
    const next = receipt.logs[index + 1]
    const isPaid =
      next?.topics[0] === TRANSFER &&
      next.topics[1] === padded(from) &&
      next.topics[2] === padded(site.payTo) &&
      BigInt(next.data) === AMOUNT
    return isPaid ? used.transactionHash : undefined
  }

  async function sign(owner: PrivateKeyAccount, kind: Order['kind'], from: Hex, at: Hex): Promise<Order> {
    const parts = { token: at, payTo: site.payTo, amount: AMOUNT, authorization: { from } }
    const body = await paymentBy(owner, parts)
    const { payload } = body.paymentPayload
    const { nonce } = payload.authorization
    return {
      body,
      identity: ['eip3009', at.toLowerCase(), from.toLowerCase(), BigInt(nonce).toString()],
      payer: from.toLowerCase(),
      kind,
      sendFirst: () => send(at, transferCall(payload)),
      takeBack: async () => {
        if (kind === 'wallet') return
        await send(at, await cancelCall(owner, at, nonce))
      },
      paidIn: () => paidIn(at, from, nonce),
    }
  }

  // All is there before the first step: no block may be needed to make an order.
  const wallets: Hex[] = []
  for (let count = 0; count < WALLETS; count += 1)
    wallets.push(await site.deploy(TWO_FACED_WALLET_CODE, WALLET, [count % 2 === 0]))
  const tokens: Hex[] = []
  for (const way of [0n, 1n, 2n])
    tokens.push(await site.deploy(TWO_FACED_TOKEN_CODE, TOKEN, ['Test Dollar', '2', way]))
  const order: FrontChain['order'] = async (kind, { payments, funds }) => {
    const owner = privateKeyToAccount(generatePrivateKey())
    const at = kind === 'token' ? random.pick(tokens) : token
    const from = kind === 'wallet' ? random.pick(wallets) : owner.address
    const balance = encodeAbiParameters([{ type: 'uint256' }], [AMOUNT * BigInt(funds)])
    const slot = encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [from, BALANCES])
    await rpc('anvil_setStorageAt', [at, keccak256(slot), balance])
    return Promise.all(Array.from({ length: payments }, () => sign(owner, kind, from, at)))
  }

  let estimates = 0
  const ofLogs = (method: unknown) => method === 'eth_getLogs'
  return {
    network: NETWORK,
    asset: token,
    otherPayee: privateKeyToAccount(DEV_KEYS[1]).address,
    node,
    config: {
      relayers: [{ id: 'main', name: 'Main', signer_id: 'dev-0', ...ON_ANVIL, policies: { rules } }],
      signers: [plainSigner('dev-0', DEV_KEYS[0])],
      networks: [anvilNetwork([node.url], { required_confirmations: 1 })],
    },
    lies: {
      'is behind': { behind: 2 },
      'has no logs': {
        refuse: ({ method }) => (ofLogs(method) ? { code: -32_602, message: 'no logs here' } : undefined),
      },
      'denies logs': { lie: ({ method }, reply) => (ofLogs(method) ? { ...reply, result: [] } : reply) },
      'denies receipts': {
        lie: ({ method }, reply) =>
          method === 'eth_getTransactionReceipt' ? { ...reply, result: null } : reply,
      },
      'finds every other call dear': {
        lie: ({ method }, reply) => {
          if (method !== 'eth_estimateGas') return reply
          estimates += 1
          return estimates % 2 === 1 ? reply : { ...reply, result: DEAR_GAS }
        },
      },
    },
    ownRequest: { to: RECEIVER, value: 0 },
    kinds: ['honest', 'wallet', 'token'],
    maxFee: BigInt(MAX_GAS) * PRICE,
    blockMs: 400,
    makeBlock: () => rpc('evm_mine'),
    order,
    relayed: () => relayedOn(rpc),
    received: () => site.balanceOf(site.payTo),
    stop: async () => {
      await site.stop()
      await node?.stop()
    },
  }
}

interface Log {
  readonly topics: readonly Hex[]
  readonly data: Hex
}

const padded = (address: Hex) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

interface BlockTransaction {
  readonly hash: Hex
  readonly from: Hex
  readonly input: Hex
  readonly gas: Hex
}

type EvmRpc = <Result>(method: string, params?: readonly unknown[]) => Promise<Result>

async function relayedOn(rpc: EvmRpc): Promise<Relayed[]> {
  const last = Number(await rpc<Hex>('eth_blockNumber', []))
  const all: Relayed[] = []
  for (let number = 0; number <= last; number += 1) {
    const block = await rpc<{ transactions: BlockTransaction[] }>('eth_getBlockByNumber', [
      `0x${number.toString(16)}`,
      true,
    ])
    for (const { hash, from, input, gas } of block.transactions) {
      if (from.toLowerCase() !== RELAYER.toLowerCase()) continue
      const receipt = await rpc<{ gasUsed: Hex; effectiveGasPrice: Hex }>('eth_getTransactionReceipt', [hash])
      const isPayment = input.length > 74
      all.push({
        hash,
        fee: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice),
        // The payer is the first argument of both forms of transferWithAuthorization. Others may send what
        // they like.
        payer: isPayment ? `0x${input.slice(34, 74)}` : undefined,
        problem: isPayment && Number(gas) > MAX_GAS ? `a gas limit of ${Number(gas)} was signed` : undefined,
      })
    }
  }
  return all
}
