import type { Checked } from '../shared/exposure.ts'
import { normalized } from '../shared/fields.ts'
import { callApi, isRecord, NodeError, type Rpc, rpcOf, Unavailable, type World } from '../shared/host.ts'
import { isListed, type NetworkSettings } from './config.ts'
import { judgeApproval, readApproval, readApprovalState } from './evm/approval-chain.ts'
import { CHANNELS } from './evm/channels/channel.ts'
import { decodeChannelPayment } from './evm/channels/payment.ts'
import { decodeEvmPayment } from './evm/decode.ts'
import { decodeDelegatedPayment } from './evm/delegated.ts'
import { evmElsewhere, evmOutcome, receiptShows } from './evm/outcome.ts'
import { checkEvmWindow, dateOf, type EvmPayment, isSame, UPTO_PROXY } from './evm/payment.ts'
import { withoutPermit } from './evm/permit2.ts'
import {
  type EvmReadings,
  gasLimitFor,
  judgeEvmPayment,
  judgePayer,
  MADE_ON_EVM,
  readEvmChain,
  settlementCall,
} from './evm/verify.ts'
import { Refusal } from './refusal.ts'
import { decodeSolanaPayment, type SolanaPayment } from './solana/payment.ts'
import { isSignedAs, judgeSolanaPayment, readSolanaChain, solanaOutcome } from './solana/verify.ts'
import { judgeWalletPayment, readWalletChain, type WalletPayment, walletOutcome } from './solana/wallet.ts'
import { stellarElsewhere, stellarOutcome } from './stellar/outcome.ts'
import { decodeStellarPayment, type StellarPayment } from './stellar/payment.ts'
import {
  judgeStellarPayment,
  MADE_ON_STELLAR,
  readStellarLedger,
  stellarBody,
  stellarDeadline,
} from './stellar/verify.ts'
import { isDelegated, type PaymentRequest } from './wire.ts'

/** What the chain says about a transaction: the payee was paid in it, was not, or no node knows it yet. */
export type Outcome = 'paid' | 'failed' | 'unknown'

/** The relayer's own transaction of a payment, which did not make it. */
export interface OwnTransaction {
  /** Absent if nothing was signed. */
  readonly hash: string | undefined
  /** When it was accepted, in milliseconds. */
  readonly since: number
}

/**
 * What the chain says about a payment that the relayer's own transaction did not make. `unpaid`: nobody else
 * made it either.
 */
export type Elsewhere =
  | { readonly kind: 'paid'; readonly hash: string }
  | { readonly kind: 'unpaid' }
  | { readonly kind: 'unknown' }

/**
 * A payment that can be settled. It is uncertain if the payer's wallet, or an asset that the operator does
 * not list, decides in the block.
 */
export interface Verified extends Checked {
  /** The body of the transaction that settles it, with every limit that was checked. */
  readonly body: object
  /** What must be in a block before it; absent if nothing must. */
  readonly approval?: PendingApproval
  /** What the answer to a verification tells besides. */
  readonly extra?: object
}

/** The payer's own transaction, which came with the payment and is not sent. The relayer pays its gas. */
export interface PendingApproval {
  readonly hash: string
  /** What the payer lacks for it, in the smallest unit of the coin. */
  readonly lacks: bigint
  /** Gives it to a node. Whether that helped, the state tells. */
  broadcast(): Promise<void>
  state(): Promise<'approved' | 'waiting' | 'lost'>
}

/**
 * When a payment is verified, and until when it must be included for its buyer to be served. In milliseconds.
 */
export interface Moment {
  readonly now: number
  readonly deadline: number
}

/** What the answer to a settlement tells in place of, or besides, what was required. */
export interface Told {
  readonly amount: string
  readonly payer?: string
  readonly extra?: object
}

/** A decoded payment, on whichever chain. */
export interface Payment {
  readonly payer: string
  /** What it moves. */
  readonly amount: bigint
  /** True if nothing is ever sent for it: the receiver has it settled together with others. */
  readonly isVerifiedAlone?: boolean
  /** True if it fills, claims or empties a channel, and pays the payee nothing. */
  readonly isOfChannel?: boolean
  /** Reads what the answer tells of a transaction that made it. What is required, if absent. */
  tell?(hash: string): Promise<Told>
  /** What makes it this payment and no other, beside its network: the chain lets it happen only once. */
  readonly identity: readonly string[]
  /** All that is signed, and the signatures. */
  readonly content: readonly string[]
  /** True if this transaction is of this payment, and not of another one with the same identity. */
  isSettledBy(transaction: {
    readonly to?: string
    readonly data?: string
    readonly hash?: string
    readonly operations?: unknown
  }): Promise<boolean>
  /** Reads the chain and decides. @throws Refusal if it cannot be settled */
  verify(moment: Moment): Promise<Verified>
  /**
   * Reads from the chain if the payment, with its payer, payee, asset and amount, was made in this
   * transaction of the relayer.
   */
  outcome(hash: string): Promise<Outcome>
  /** True if the payer's own transaction came with it. */
  readonly bringsTransaction: boolean
  /** Names that only one waiting payment of this payer may have. */
  readonly slots: readonly string[]
  /**
   * Accounts of which one has the amount more if it was paid, where the transaction may succeed without
   * paying; else empty.
   */
  readonly receivers: readonly string[]
  /** True for a refusal that may only mean that someone else made the payment already. */
  mayBeMade(refusal: Refusal): boolean
  /** Finds out if someone else made it. */
  elsewhere(own: OwnTransaction): Promise<Elsewhere>
}

/** The relayer that settles, as the service describes it. */
export interface Settler {
  /** The account that pays the fee. */
  readonly address: string
  /** All accounts that may send, in lower case on EVM. */
  readonly own: ReadonlySet<string>
  /** The name of its network, as requests to the service have it. */
  readonly networkName: string
  /** EVM: seconds between blocks, as they were lately. */
  readonly blockSeconds: number
  /** The reason why nothing can be settled with the scheme `upto`; undefined if it can. */
  readonly uptoProblem: string | undefined
  /** The reason why it uses no delegations; undefined if it can. */
  readonly delegationsProblem: string | undefined
  /** The reason why it serves no channels; undefined if it can. */
  readonly channelsProblem: string | undefined
  /** The reason why it gives no signed transactions of others to a node; undefined if it does. */
  readonly approvalProblem: string | undefined
}

/** Decodes the payment of a request. @throws Refusal if it is not what is required */
export async function decodePayment(
  request: PaymentRequest,
  settler: Settler,
  world: World,
): Promise<Payment> {
  const { network } = request
  const rpc = rpcOf(world, network.relayerId)
  const { address } = settler
  switch (network.family) {
    case 'eip155':
      if (request.scheme === 'upto' && settler.uptoProblem !== undefined)
        throw new Refusal('unsupported_scheme', `scheme: ${settler.uptoProblem}`)
      if (request.scheme === 'batch-settlement') return decodeChannelPayment(request, rpc, settler)
      if (isDelegated(request)) return decodeDelegatedPayment(request, rpc, settler)
      return evmPayment(network, await decodeEvmPayment(request, address as `0x${string}`), rpc, settler)
    case 'solana':
      return solanaPayment(network, await decodeSolanaPayment(request, address, network), rpc)
    case 'stellar':
      return stellarPayment(network, decodeStellarPayment(request, address), rpc, settler)
  }
}

/** What a transaction must show that may succeed without paying: one of the receivers has the amount. */
export interface Proof {
  readonly asset: string
  readonly amount: bigint
  readonly receivers: readonly string[]
}

/** Reads from the chain if a transaction of the relayer paid one of the receivers. */
export function shownIn(hash: string, { asset, amount, receivers }: Proof, rpc: Rpc): Promise<Outcome> {
  return hash.startsWith('0x')
    ? receiptShows({ asset: asset as `0x${string}`, payees: receivers, amount }, hash, rpc)
    : walletOutcome(hash, { mint: asset, amount, receivers }, rpc)
}

function solanaPayment(network: NetworkSettings, payment: SolanaPayment | WalletPayment, rpc: Rpc): Payment {
  const { payer, mint, amount, messageHash, transaction } = payment
  const receivers = 'receivers' in payment ? payment.receivers : []
  return {
    payer,
    amount,
    // The message may name the payee through a table, so only the verification shows whom it pays: for
    // another payee it is another payment.
    identity: [mint, payer, 'receivers' in payment ? receivers.join(' ') : payment.destination, messageHash],
    content: [messageHash],
    bringsTransaction: false,
    slots: [],
    receivers,
    isSettledBy: async ({ hash }) => hash === undefined || isSignedAs(payment, hash),
    async verify() {
      if ('receivers' in payment) {
        const readings = await readWalletChain(payment, rpc)
        judgeWalletPayment(payment, readings)
        const { source, slot } = readings
        return { body: { transaction }, funds: source?.amount, block: slot, isUncertain: true }
      }
      const readings = await readSolanaChain(payment, rpc)
      judgeSolanaPayment(payment, readings)
      return {
        body: { transaction },
        funds: readings.before[0]?.amount,
        block: readings.slot,
        isUncertain: payment.hasAssertions || !isListed(network, mint),
      }
    },
    async outcome(signature) {
      if (!(await isSignedAs(payment, signature))) return 'failed'
      return 'receivers' in payment ? walletOutcome(signature, payment, rpc) : solanaOutcome(signature, rpc)
    },
    mayBeMade: () => false,
    // The signature of the relayer is the name of the transaction, so no one else can have sent another one.
    elsewhere: async () => ({ kind: 'unpaid' }),
  }
}

function stellarPayment(
  network: NetworkSettings,
  payment: StellarPayment,
  rpc: Rpc,
  { address, networkName }: Settler,
): Payment {
  const { payer, asset, amount, nonce, entryHash } = payment
  return {
    payer,
    amount,
    identity: [asset, payer, nonce.toString()],
    content: [entryHash],
    bringsTransaction: false,
    slots: [],
    receivers: [],
    isSettledBy: async ({ operations }) => JSON.stringify(operations ?? '').includes(payment.entry),
    async verify(moment) {
      const readings = await readStellarLedger(payment, rpc, address)
      judgeStellarPayment(payment, readings)
      return {
        body: {
          ...stellarBody(payment, networkName),
          valid_until: stellarDeadline(payment, readings, moment),
        },
        funds: readings.balance,
        block: readings.ledger,
        isUncertain: payer.startsWith('C') || !isListed(network, asset),
      }
    },
    outcome: (hash) => stellarOutcome(payment, hash, rpc),
    mayBeMade: ({ reason }) => MADE_ON_STELLAR.includes(reason),
    elsewhere: (own) => stellarElsewhere(payment, own, rpc),
  }
}

function evmPayment(network: NetworkSettings, payment: EvmPayment, rpc: Rpc, settler: Settler): Payment {
  const { address, blockSeconds } = settler
  const { payer, asset, amount, method, nonce, validBefore } = payment
  return {
    payer,
    amount,
    identity: [method, asset, payer, nonce.toString()],
    content: [payment.hash, payment.signature],
    bringsTransaction: payment.approval !== undefined,
    // A permit replaces what is allowed, so two payments with one would count on the same allowance.
    slots: payment.bringsApproval ? [`approval ${asset}`] : [],
    receivers: [],
    isSettledBy: async ({ to = '', data = '' }) =>
      [payment.move, settlementCall(payment, true)].some(
        (call) =>
          isSame(call.to, to) && [data, withoutPermit(to, data)].some((each) => isSame(call.data, each)),
      ),
    async verify({ now }) {
      checkEvmWindow(payment, { now, blockSeconds })
      const readings = await readEvmChain(payment, rpc, address as `0x${string}`)
      const approval = await pendingApproval(payment, readings, { now, network, rpc, settler })
      if (approval)
        return {
          body: {},
          approval,
          funds: readings.before?.[0],
          block: readings.block,
          isUncertain: true,
        }
      const gas = judgeEvmPayment(payment, readings, network)
      const { to, data } = settlementCall(payment, !readings.payerHasCode)
      const gas_limit = Number(gasLimitFor(gas, network))
      return {
        body: { to, value: '0', data, gas_limit, valid_until: dateOf(validBefore) },
        funds: fundsOf(payment, readings),
        block: readings.block,
        isUncertain: readings.payerHasCode || !payment.signedByKey || !isListed(network, asset),
      }
    },
    outcome: (hash) => evmOutcome(payment, hash, rpc),
    mayBeMade: ({ reason }) => MADE_ON_EVM.includes(reason),
    elsewhere: (own) => evmElsewhere(payment, own, rpc),
  }
}

/**
 * Checks the approval that came with a payment as a signed transaction, if the payment needs it. @throws
 * Refusal if it would not help
 */
async function pendingApproval(
  payment: EvmPayment,
  readings: EvmReadings,
  {
    now,
    network,
    rpc,
    settler: { address, blockSeconds, approvalProblem },
  }: {
    readonly now: number
    readonly network: NetworkSettings
    readonly rpc: Rpc
    readonly settler: Settler
  },
): Promise<PendingApproval | undefined> {
  const { approval, payer, amount } = payment
  const { allowance = amount } = readings
  if (approval === undefined || allowance >= amount) return undefined
  judgePayer(payment, readings, network)
  const problem =
    network.approvalGas === undefined ? 'The relayer pays for no approvals here.' : approvalProblem
  if (problem !== undefined)
    throw new Refusal(
      'permit2_allowance_required',
      `The payer allows Permit2 to spend ${allowance}. ${problem}`,
      payer,
    )
  const { maxGas } = network
  const relayer = address as `0x${string}`
  const found = await readApproval(payment, approval, { rpc, relayer, maxGas })
  const lacks = judgeApproval(payment, approval, found, maxGas)
  // The gas that the payer lacks, and his approval, are in blocks before the payment.
  checkEvmWindow(payment, { now, blockSeconds, before: lacks > 0n ? 2 : 1 })
  return {
    hash: approval.hash,
    lacks,
    broadcast: async () => {
      await rpc(SENDS_BYTES, [approval.raw]).catch((error: unknown) => {
        if (!(error instanceof NodeError || error instanceof Unavailable)) throw error
      })
    },
    state: () => readApprovalState(payment, approval, { rpc, needed: amount }),
  }
}

/** Tokens that Permit2 may not spend pay nothing, so several payments need as much allowance as balance. */
function fundsOf({ bringsApproval }: EvmPayment, { before, allowance }: EvmReadings): bigint | undefined {
  const balance = before?.[0]
  if (balance === undefined || allowance === undefined || bringsApproval) return balance
  return allowance < balance ? allowance : balance
}

/** What each service says of relayers, and when it was read. */
const known = new WeakMap<object, Map<string, Settler & { readonly at: number }>>()

/** How long a relayer is believed to be as it was, in ms: one that is deleted and created again is rare. */
const FRESH_MS = 60_000

/** The network of a relayer is not the one that the operator named. */
export class WrongNetwork extends Error {}

/**
 * Returns the relayer of a network, after checking that it is on that network.
 * @throws WrongNetwork if the operator named a relayer of another one
 */
export async function settlerOn(
  { network, family, relayerId }: NetworkSettings,
  world: World,
): Promise<Settler> {
  const key = `${network} ${relayerId}`
  const settlers = known.get(world.memory) ?? new Map<string, Settler & { readonly at: number }>()
  known.set(world.memory, settlers)
  const earlier = settlers.get(key)
  if (earlier && world.now() - earlier.at < FRESH_MS) return earlier
  const record = await callApi(world, {
    method: 'GET',
    path: `/api/v1/relayers/${encodeURIComponent(relayerId)}`,
  })
  const { address, network: networkName, network_type, accounts, policies } = isRecord(record) ? record : {}
  const wanted = family === 'eip155' ? 'evm' : family
  if (typeof address !== 'string' || typeof networkName !== 'string' || network_type !== wanted)
    throw new WrongNetwork(`config.networks: relayer ${relayerId} is not on a network of the type ${wanted}.`)
  const rpc = rpcOf(world, relayerId)
  const chain = await identify(family, rpc)
  if (chain !== network)
    throw new WrongNetwork(`config.networks: relayer ${relayerId} is on ${chain}, not on ${network}.`)
  const isEvm = family === 'eip155'
  const [blockSeconds, uptoProblem, channelsProblem] = await Promise.all([
    isEvm ? readBlockSeconds(rpc) : 0,
    isEvm ? readUptoProblem(accounts, rpc) : 'upto is supported on EVM chains alone.',
    isEvm ? readChannelsProblem(rpc) : 'batch-settlement is supported on EVM chains alone.',
  ])
  const approvalProblem = readApprovalProblem(policies)
  const delegationsProblem = readDelegationsProblem(accounts)
  const problems = { uptoProblem, channelsProblem, approvalProblem, delegationsProblem }
  const others = Array.isArray(accounts) ? accounts.filter(isRecord).map((each) => String(each.address)) : []
  const own = new Set([address, ...others].map(normalized))
  const settler = { address, own, networkName, blockSeconds, ...problems, at: world.now() }
  settlers.set(key, settler)
  return settler
}

/** Tells why the relayer of a network sends nothing now; undefined if it does. */
export async function readProblem({ relayerId }: NetworkSettings, world: World): Promise<string | undefined> {
  const path = `/api/v1/relayers/${encodeURIComponent(relayerId)}`
  const record = await callApi(world, { method: 'GET', path })
  const {
    paused,
    system_disabled: disabled,
    disabled_reason: reason,
    accounts,
  } = isRecord(record) ? record : {}
  if (paused === true) return 'Its relayer is paused.'
  const others = Array.isArray(accounts) ? accounts.filter(isRecord) : []
  if (disabled !== true || others.some((account) => account.system_disabled === false)) return undefined
  return `Its relayer is disabled: ${isRecord(reason) ? String(reason.type) : 'for a reason that it does not tell'}.`
}

/** The payer names the account that may settle, so it must be the one that sends. */
async function readUptoProblem(accounts: unknown, rpc: Rpc): Promise<string | undefined> {
  if (hasSeveral(accounts)) return 'upto needs a relayer with one account: name it in upto_relayer_id.'
  const code = await rpc<string>('eth_getCode', [UPTO_PROXY, 'latest'])
  return code.length > 2 ? undefined : 'x402’s proxy for upto is not on this chain.'
}

/** The payer may name the account that uses a delegation. */
function readDelegationsProblem(accounts: unknown): string | undefined {
  return hasSeveral(accounts)
    ? 'ERC-7710 needs a relayer with one account: name it in delegations.relayer_id.'
    : undefined
}

function hasSeveral(accounts: unknown): boolean {
  return Array.isArray(accounts) && accounts.length > 1
}

async function readChannelsProblem(rpc: Rpc): Promise<string | undefined> {
  const code = await rpc<string>('eth_getCode', [CHANNELS, 'latest'])
  return code.length > 2 ? undefined : 'x402’s contract for batch-settlement is not on this chain.'
}

const SENDS_BYTES = 'eth_sendRawTransaction'

function readApprovalProblem(policies: unknown): string | undefined {
  const allowed = isRecord(policies) ? policies.allowed_rpc_methods : undefined
  return Array.isArray(allowed) && allowed.includes(SENDS_BYTES)
    ? undefined
    : `Approvals need ${SENDS_BYTES} in the policy allowed_rpc_methods of the relayer.`
}

/**
 * Blocks whose times are compared, and the longest time between two that counts: some chains make blocks only
 * when there is something to include.
 */
const MEASURED_BLOCKS = 20n
const LONGEST_BLOCK_SECONDS = 12

async function readBlockSeconds(rpc: Rpc): Promise<number> {
  const block = async (number: string) => {
    const found = await rpc<{ number: string; timestamp: string } | null>('eth_getBlockByNumber', [
      number,
      false,
    ])
    if (found === null) throw new Unavailable('No node has the newest blocks.')
    return { number: BigInt(found.number), seconds: Number(found.timestamp) }
  }
  const newest = await block('latest')
  if (newest.number < MEASURED_BLOCKS) return LONGEST_BLOCK_SECONDS
  const older = await block(`0x${(newest.number - MEASURED_BLOCKS).toString(16)}`)
  return Math.min(LONGEST_BLOCK_SECONDS, (newest.seconds - older.seconds) / Number(MEASURED_BLOCKS))
}

/** The passphrases of Stellar's networks, by their names in CAIP-2. */
const STELLAR_NAMES: Readonly<Record<string, string>> = {
  'Public Global Stellar Network ; September 2015': 'pubnet',
  'Test SDF Network ; September 2015': 'testnet',
}

async function identify(family: NetworkSettings['family'], rpc: Rpc): Promise<string> {
  try {
    if (family === 'eip155') return `eip155:${BigInt(await rpc<string>('eth_chainId', []))}`
    if (family === 'solana') return `solana:${(await rpc<string>('getGenesisHash', [])).slice(0, 32)}`
    const { passphrase } = await rpc<{ passphrase: string }>('getNetwork', {})
    return `stellar:${STELLAR_NAMES[passphrase] ?? passphrase}`
  } catch (error) {
    throw error instanceof NodeError ? new Unavailable(error.message) : error
  }
}
