import type { NetworkSettings } from './config.ts'
import { evmOutcome, paidByOthers } from './evm/outcome.ts'
import { checkEvmWindow, decodeEvmPayment, type EvmPayment, isSame } from './evm/payment.ts'
import { judgeEvmPayment, readEvmChain, settlementCall } from './evm/verify.ts'
import { callApi, isRecord, NodeError, type Rpc, rpcOf, type World } from './host.ts'
import { Unavailable } from './refusal.ts'
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
  isSettledBy(transaction: { readonly to?: string; readonly data?: string }): boolean
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

/** Decodes the payment of a request. `relayer` is the address that pays the fee. @throws Refusal if it is not what is required */
export async function decodePayment(
  request: PaymentRequest,
  relayer: string,
  world: World,
): Promise<Payment> {
  const rpc = rpcOf(world, request.network.relayerId)
  switch (request.network.family) {
    case 'eip155':
      return evmPayment(request.network, await decodeEvmPayment(request), rpc, relayer as `0x${string}`)
    case 'solana':
    case 'stellar':
      throw new Unavailable('not yet')
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

/** A relayer's address, and when it was read. */
const addresses = new Map<string, { readonly address: string; readonly at: number }>()

/** How long the address of a relayer is believed: relayers that are deleted and created again are rare. */
const ADDRESS_MS = 60_000

/**
 * Returns the address that pays the fees on a network, after checking that the relayer is on it.
 * @throws Error if the operator named a relayer of another network
 */
export async function addressOn(
  { network, family, relayerId }: NetworkSettings,
  world: World,
): Promise<string> {
  const key = `${network} ${relayerId}`
  const known = addresses.get(key)
  if (known && world.now() - known.at < ADDRESS_MS) return known.address
  const record = await callApi(world, {
    method: 'GET',
    path: `/api/v1/relayers/${encodeURIComponent(relayerId)}`,
  })
  const { address, network_type } = isRecord(record) ? record : {}
  const wanted = family === 'eip155' ? 'evm' : family
  if (typeof address !== 'string' || network_type !== wanted)
    throw new Error(`config.networks: relayer ${relayerId} is not on a network of the type ${wanted}.`)
  const chain = await identify(family, rpcOf(world, relayerId))
  if (chain !== network)
    throw new Error(`config.networks: relayer ${relayerId} is on ${chain}, not on ${network}.`)
  addresses.set(key, { address, at: world.now() })
  return address
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
