import { CallError } from '../shared/call-error.ts'
import { normalized } from '../shared/fields.ts'
import { isRecord } from '../shared/host.ts'
import type { NetworkSettings, Settings } from './config.ts'
import { Refusal } from './refusal.ts'

/** What a resource server demands, as far as it is the same on every network. */
export interface Requirements {
  /** In the smallest unit of the asset; 0 only if nothing is charged in the end, with `upto`. */
  readonly amount: bigint
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** A request to verify or to settle a payment, read but not verified. */
export interface PaymentRequest {
  readonly version: 1 | 2
  readonly network: NetworkSettings
  /** The network as the request names it: CAIP-2, or the short name of version 1. The answer has the same. */
  readonly networkName: string
  readonly requirements: Requirements
  /** The part that belongs to the scheme. */
  readonly payload: Readonly<Record<string, unknown>>
  readonly scheme: Scheme
  /** The amount that the payer accepted; with `upto`, the most that may be settled. */
  readonly maximum: bigint
  /** The URL of what is paid for, as the payer signed nothing about it, but sent it. */
  readonly resource: string | undefined
  /** The payer's data for extensions of the protocol. */
  readonly extensions: Readonly<Record<string, unknown>>
  /** The id of the extension `payment-identifier`. */
  readonly paymentId: string | undefined
}

/**
 * The amount is fixed, or the resource server names it in the end, up to a maximum, or it is taken from a
 * channel later.
 */
export type Scheme = 'exact' | 'upto' | 'batch-settlement'

/** The answer to `POST /verify`. */
export interface VerifyAnswer {
  readonly isValid: boolean
  readonly invalidReason?: string
  readonly invalidMessage?: string
  readonly payer?: string
  readonly extensions?: object
  /** What the scheme tells besides. */
  readonly extra?: object
}

/** The answer to `POST /settle`. */
export interface SettleAnswer {
  readonly success: boolean
  readonly errorReason?: string
  readonly errorMessage?: string
  readonly payer?: string
  /** The hash, or on Solana the signature; empty if it failed or is not signed yet. */
  readonly transaction: string
  readonly network: string
  readonly amount?: string
  readonly extensions?: object
  /** What the scheme tells besides. */
  readonly extra?: object
}

/** The name of the extension that lets a payer name a payment. */
export const PAYMENT_IDENTIFIER = 'payment-identifier'

/** The name of the extension by which a payer brings a permit of EIP-2612 for Permit2. */
export const EIP2612_SPONSORING = 'eip2612GasSponsoring'

/** The name of the extension by which a payer brings an approval of Permit2 as a signed transaction. */
export const ERC20_SPONSORING = 'erc20ApprovalGasSponsoring'

/** The extension in which a settlement says that it repeats an earlier answer. */
export const SETTLEMENT = 'settlement'

/** The method of a payment by an account that lets the relayer make it, in `extra.assetTransferMethod`. */
export const DELEGATED = 'erc7710'

/** True if a payment is made by a delegation, or has to be. */
export function isDelegated({
  payload,
  requirements,
}: Pick<PaymentRequest, 'payload' | 'requirements'>): boolean {
  return payload.delegationManager !== undefined || requirements.extra.assetTransferMethod === DELEGATED
}

/** The networks that version 1 names, and what they are called since version 2. */
export const NETWORKS_OF_VERSION_1: Readonly<Record<string, string>> = {
  abstract: 'eip155:2741',
  'abstract-testnet': 'eip155:11124',
  avalanche: 'eip155:43114',
  'avalanche-fuji': 'eip155:43113',
  base: 'eip155:8453',
  'base-sepolia': 'eip155:84532',
  celo: 'eip155:42220',
  educhain: 'eip155:41923',
  ethereum: 'eip155:1',
  flare: 'eip155:14',
  iotex: 'eip155:4689',
  megaeth: 'eip155:4326',
  monad: 'eip155:143',
  peaq: 'eip155:3338',
  polygon: 'eip155:137',
  'polygon-amoy': 'eip155:80002',
  sei: 'eip155:1329',
  'sei-testnet': 'eip155:1328',
  sepolia: 'eip155:11155111',
  'skale-base-sepolia': 'eip155:324705682',
  solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'solana-devnet': 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  stable: 'eip155:988',
  'stable-testnet': 'eip155:2201',
  story: 'eip155:1514',
}

/** Longer than any request of a resource server; a longer wait would keep connections. */
const MAX_TIMEOUT_SECONDS = 10_000_000

/** The requirements of a payment. */
export type Step = 'verify' | 'settle'

/**
 * Reads a request. Throws {@link Refusal}, or {@link CallError} where the extension `payment-identifier`
 * demands a status.
 */
export function readPaymentRequest(body: unknown, step: Step, settings: Settings): PaymentRequest {
  if (!isRecord(body)) throw new Refusal('invalid_payload', 'The body must be a JSON object.')
  const { paymentPayload, paymentRequirements } = body
  if (!isRecord(paymentPayload)) throw new Refusal('invalid_payload', 'paymentPayload: expected an object.')
  if (!isRecord(paymentRequirements))
    throw new Refusal('invalid_payment_requirements', 'paymentRequirements: expected an object.')
  const version = readVersion(body.x402Version ?? paymentPayload.x402Version, paymentPayload.x402Version)
  const accepted = version === 2 ? paymentPayload.accepted : paymentPayload
  if (!isRecord(accepted))
    throw new Refusal('invalid_payload', 'paymentPayload.accepted: expected an object.')
  const scheme = readScheme(accepted.scheme, paymentRequirements.scheme, version)
  const { network, networkName } = readNetwork(
    accepted.network,
    paymentRequirements.network,
    version,
    settings,
  )
  if (scheme === 'upto' && network.family !== 'eip155')
    throw new Refusal('unsupported_scheme', 'scheme: upto is supported on EVM chains alone.')
  const isChannel = scheme === 'batch-settlement'
  if (isChannel && !network.batchSettlement)
    throw new Refusal('unsupported_scheme', 'scheme: batch-settlement is not served on this network.')
  // The resource server tells how much it was when it settles; that may be nothing.
  const isMetered = scheme !== 'exact' && step === 'settle'
  const requirements = readRequirements(paymentRequirements, version, {
    least: isMetered || isChannel ? 0n : 1n,
    isChannel,
  })
  const promised =
    version === 2 ? readRequirements(accepted, 2, { least: isChannel ? 0n : 1n, isChannel }) : requirements
  if (isMetered) checkCharge(requirements, promised, scheme)
  checkAccepted(requirements, promised, isMetered)
  const { payload, extensions } = paymentPayload
  if (!isRecord(payload)) throw new Refusal('invalid_payload', 'paymentPayload.payload: expected an object.')
  return {
    version,
    network: { ...network, relayerId: relayerFor(network, scheme, isDelegated({ payload, requirements })) },
    networkName,
    scheme,
    requirements,
    maximum: promised.amount,
    payload,
    extensions: isRecord(extensions) ? extensions : {},
    resource: readResource(version === 2 ? paymentPayload.resource : paymentRequirements.resource),
    paymentId: readPaymentId(paymentPayload.extensions),
  }
}

function relayerFor(network: NetworkSettings, scheme: Scheme, byDelegation: boolean): string {
  const { relayerId, uptoRelayerId, delegations } = network
  if (scheme === 'upto') return uptoRelayerId
  return scheme === 'exact' && byDelegation ? (delegations?.relayerId ?? relayerId) : relayerId
}

function readVersion(outer: unknown, inner: unknown): 1 | 2 {
  if (outer !== inner)
    throw new Refusal('invalid_x402_version', 'x402Version: the two versions of the request differ.')
  if (outer === 1 || outer === 2) return outer
  throw new Refusal('invalid_x402_version', 'x402Version: expected 1 or 2.')
}

function readScheme(accepted: unknown, required: unknown, version: 1 | 2): Scheme {
  if (accepted !== required)
    throw new Refusal('invalid_scheme', 'scheme: the payment has another one than the requirements.')
  if (required === 'exact') return required
  if ((required === 'upto' || required === 'batch-settlement') && version === 2) return required
  throw new Refusal(
    'unsupported_scheme',
    'scheme: exact and, since version 2, upto and batch-settlement are supported.',
  )
}

function readNetwork(accepted: unknown, required: unknown, version: 1 | 2, { networks }: Settings) {
  if (typeof required !== 'string' || accepted !== required)
    throw new Refusal('invalid_network', 'network: the payment has another one than the requirements.')
  const name = version === 2 ? required : NETWORKS_OF_VERSION_1[required]
  const network = name === undefined ? undefined : networks.get(name)
  // Stellar was added in version 2.
  if (!network || (version === 1 && network.family === 'stellar'))
    throw new Refusal('invalid_network', `network: ${required.slice(0, 100)} is not settled here.`)
  return { network, networkName: required }
}

function readRequirements(
  fields: Readonly<Record<string, unknown>>,
  version: 1 | 2,
  { least, isChannel }: { readonly least: bigint; readonly isChannel: boolean },
): Requirements {
  const amount = version === 2 ? fields.amount : fields.maxAmountRequired
  const { asset, payTo, maxTimeoutSeconds, extra } = fields
  if (typeof amount !== 'string' || !/^(0|[1-9]\d{0,77})$/.test(amount) || BigInt(amount) < least)
    throw wrong(version === 2 ? 'amount' : 'maxAmountRequired', `a decimal text of an integer from ${least}`)
  if (typeof asset !== 'string' || asset === '') throw wrong('asset', 'an address')
  if (typeof payTo !== 'string' || payTo === '') throw wrong('payTo', 'an address')
  if (
    typeof maxTimeoutSeconds !== 'number' ||
    !(maxTimeoutSeconds > 0 || (isChannel && maxTimeoutSeconds === 0)) ||
    maxTimeoutSeconds > MAX_TIMEOUT_SECONDS
  )
    // Whoever claims from channels waits for nobody, and says 0.
    throw wrong('maxTimeoutSeconds', 'a positive number of seconds')
  if (extra !== undefined && extra !== null && !isRecord(extra)) throw wrong('extra', 'an object')
  return { amount: BigInt(amount), asset, payTo, maxTimeoutSeconds, extra: isRecord(extra) ? extra : {} }
}

function wrong(field: string, expected: string): Refusal {
  return new Refusal('invalid_payment_requirements', `paymentRequirements.${field}: expected ${expected}.`)
}

function checkCharge(required: Requirements, accepted: Requirements, scheme: Scheme): void {
  if (required.amount <= accepted.amount) return
  throw new Refusal(
    scheme === 'upto'
      ? 'invalid_upto_evm_payload_settlement_exceeds_amount'
      : 'invalid_batch_settlement_evm_charge_exceeds_signed_cumulative',
    `paymentRequirements.amount: ${required.amount} is more than ${accepted.amount}, which the payer accepted.`,
  )
}

/** Servers may fill `extra` anew for each answer, e.g. with a blockhash, so it is not compared. */
function checkAccepted(required: Requirements, accepted: Requirements, isMetered: boolean): void {
  const same =
    (isMetered || accepted.amount === required.amount) &&
    normalized(accepted.asset) === normalized(required.asset) &&
    normalized(accepted.payTo) === normalized(required.payTo) &&
    accepted.maxTimeoutSeconds === required.maxTimeoutSeconds
  if (!same)
    throw new Refusal(
      'invalid_payment_requirements',
      'paymentPayload.accepted: differs from paymentRequirements.',
    )
}

/** Longer URLs are cut: the start tells resources apart well enough, and records stay small. */
const MAX_RESOURCE_LENGTH = 2048

function readResource(resource: unknown): string | undefined {
  const url = isRecord(resource) ? resource.url : resource
  return typeof url === 'string' && url !== '' ? url.slice(0, MAX_RESOURCE_LENGTH) : undefined
}

function readPaymentId(extensions: unknown): string | undefined {
  const extension = isRecord(extensions) ? extensions[PAYMENT_IDENTIFIER] : undefined
  if (extension === undefined) return undefined
  const info = isRecord(extension) ? extension.info : undefined
  const { id, required } = isRecord(info) ? info : {}
  if (id === undefined && required !== true) return undefined
  const field = `paymentPayload.extensions.${PAYMENT_IDENTIFIER}.info.id`
  if (id === undefined) throw new CallError(400, 'payment_identifier_required', `${field} is required.`)
  if (typeof id === 'string' && /^[A-Za-z0-9_-]{16,128}$/.test(id)) return id
  const expected = 'expected 16 to 128 letters, digits, hyphens and underscores.'
  throw new CallError(400, 'payment_identifier_invalid', `${field}: ${expected}`)
}
