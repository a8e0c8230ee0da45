import { callApi, isRecord, NodeError, type Rpc, rpcOf, Unavailable, type World } from '../shared/host.ts'
import type { NetworkSettings } from './config.ts'
import { evmOutcome, paidByOthers } from './evm/outcome.ts'
import { checkEvmWindow, decodeEvmPayment, type EvmPayment, isSame } from './evm/payment.ts'
import { judgeEvmPayment, readEvmChain, settlementCall } from './evm/verify.ts'
import { decodeSolanaPayment, type SolanaPayment } from './solana/payment.ts'
import { judgeSolanaPayment, readSolanaChain, solanaOutcome } from './solana/verify.ts'
import { decodeStellarPayment, type StellarPayment } from './stellar/payment.ts'
import { judgeStellarPayment, readStellarLedger, stellarBody, stellarOutcome } from './stellar/verify.ts'
import type { PaymentRequest } from './wire.ts'

/** What the chain says about a transaction: the payee was paid in it, was not, or no node knows it yet. */
export type Outcome = 'paid' | 'failed' | 'unknown'

/** A decoded payment, on whichever chain. */
export interface Payment {
  readonly payer: string
  /** What makes it this payment and no other, beside its network: the chain lets it happen only once. */
  readonly identity: readonly string[]
  /** All that is signed, and the signatures. */
  readonly content: readonly string[]
  /** True if this transaction is of this payment, and not of another one with the same identity. */
  isSettledBy(transaction: {
    readonly to?: string
    readonly data?: string
    readonly operations?: unknown
  }): boolean
  /**
   * Reads the chain and decides. Returns the body of the transaction that settles it. `now` is in milliseconds.
   * @throws Refusal if it cannot be settled
   */
  verify(now: number): Promise<object>
  /** Reads from the chain if the payment was made in this transaction. */
  outcome(hash: string): Promise<Outcome>
  /** The hash of a transaction of someone else in which it was made, if the chain knows one. */
  paidByOthers(): Promise<string | undefined>
}

/** The relayer that settles, as the service describes it. */
export interface Settler {
  /** The account that pays the fee. */
  readonly address: string
  /** The name of its network, as requests to the service have it. */
  readonly networkName: string
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
      return evmPayment(network, await decodeEvmPayment(request), rpc, address as `0x${string}`)
    case 'solana':
      return solanaPayment(await decodeSolanaPayment(request, address, network), rpc)
    case 'stellar':
      return stellarPayment(decodeStellarPayment(request, address), rpc, settler)
  }
}

function solanaPayment(payment: SolanaPayment, rpc: Rpc): Payment {
  const { payer, mint, messageHash, transaction } = payment
  return {
    payer,
    identity: [mint, payer, messageHash],
    content: [messageHash],
    isSettledBy: () => true,
    async verify() {
      judgeSolanaPayment(payment, await readSolanaChain(payment, rpc))
      return { transaction }
    },
    outcome: (signature) => solanaOutcome(signature, rpc),
    // Its signature is the name of the transaction, so no one else can have sent another one.
    paidByOthers: async () => undefined,
  }
}

function stellarPayment(payment: StellarPayment, rpc: Rpc, { address, networkName }: Settler): Payment {
  const { payer, asset, nonce, entryHash } = payment
  return {
    payer,
    identity: [asset, payer, nonce.toString()],
    content: [entryHash],
    isSettledBy: ({ operations }) => JSON.stringify(operations ?? '').includes(payment.entry),
    async verify() {
      judgeStellarPayment(payment, await readStellarLedger(payment, rpc, address))
      return stellarBody(payment, networkName)
    },
    outcome: (hash) => stellarOutcome(hash, rpc),
    // An authorization that someone else has sent is told as a failure: the ledger cannot be searched by it.
    paidByOthers: async () => undefined,
  }
}

function evmPayment(
  network: NetworkSettings,
  payment: EvmPayment,
  rpc: Rpc,
  relayer: `0x${string}`,
): Payment {
  const { payer, asset, method, nonce, validBefore } = payment
  return {
    payer,
    identity: [method, asset, payer, nonce.toString()],
    content: [payment.hash, payment.signature],
    isSettledBy: ({ to = '', data = '' }) =>
      [false, true].some((created) => {
        const call = settlementCall(payment, created)
        return isSame(call.to, to) && isSame(call.data, data)
      }),
    async verify(now) {
      checkEvmWindow(payment, now)
      const readings = await readEvmChain(payment, rpc, relayer)
      judgeEvmPayment(payment, readings, network)
      const { to, data } = settlementCall(payment, !readings.payerHasCode)
      return { to, value: '0', data, valid_until: dateOf(validBefore) }
    },
    outcome: (hash) => evmOutcome(payment, hash, rpc),
    paidByOthers: () => paidByOthers(payment, rpc),
  }
}

/** The end of the year 9999, the last that RFC 3339 can write. */
const LAST_SECOND = 253_402_300_799n

function dateOf(seconds: bigint): string {
  const second = seconds < LAST_SECOND ? seconds : LAST_SECOND
  return new Date(Number(second) * 1000).toISOString()
}

/** What each service says of relayers, and when it was read. */
const known = new WeakMap<World['api'], Map<string, Settler & { readonly at: number }>>()

/** How long a relayer is believed to be as it was, in ms: one that is deleted and created again is rare. */
const FRESH_MS = 60_000

/**
 * Returns the relayer of a network, after checking that it is on that network.
 * @throws Error if the operator named a relayer of another one
 */
export async function settlerOn(
  { network, family, relayerId }: NetworkSettings,
  world: World,
): Promise<Settler> {
  const key = `${network} ${relayerId}`
  const settlers = known.get(world.api) ?? new Map<string, Settler & { readonly at: number }>()
  known.set(world.api, settlers)
  const earlier = settlers.get(key)
  if (earlier && world.now() - earlier.at < FRESH_MS) return earlier
  const record = await callApi(world, {
    method: 'GET',
    path: `/api/v1/relayers/${encodeURIComponent(relayerId)}`,
  })
  const { address, network: networkName, network_type } = isRecord(record) ? record : {}
  const wanted = family === 'eip155' ? 'evm' : family
  if (typeof address !== 'string' || typeof networkName !== 'string' || network_type !== wanted)
    throw new Error(`config.networks: relayer ${relayerId} is not on a network of the type ${wanted}.`)
  const chain = await identify(family, rpcOf(world, relayerId))
  if (chain !== network)
    throw new Error(`config.networks: relayer ${relayerId} is on ${chain}, not on ${network}.`)
  const settler = { address, networkName, at: world.now() }
  settlers.set(key, settler)
  return settler
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
