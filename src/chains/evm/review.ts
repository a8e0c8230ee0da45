import type { Hex, TransactionSerializable } from 'viem'
import { getAddress, parseTransaction } from 'viem/utils'
import type { Answer } from '../answer.ts'
import type { Reviewed } from '../chain.ts'
import type { UnsignedEvm } from '../request.ts'
import { MAX_NONCE } from './authorization.ts'
import type { EvmDraft, EvmRequest } from './content.ts'
import { evmEffects } from './effects/effects.ts'
import { checkRequest } from './prepare/check.ts'
import { ceilingOf, explicitFees } from './prepare/fees.ts'
import { signDraft, unsignedBytes } from './sign.ts'
import type { EvmAccount, FeeMarket } from './types.ts'

/** The content of an unsigned transaction, or a refusal. */
type Reading = Answer<{ readonly request: EvmRequest; readonly nonce: bigint }>

/** Reviews an unsigned transaction without a node: gas, price and nonce are the caller's. */
export function reviewUnsigned(
  unsigned: UnsignedEvm,
  account: EvmAccount,
  network: FeeMarket,
): Answer<Reviewed> {
  const reading = 'request' in unsigned ? ok(unsigned) : readEncoded(unsigned.encoded, network.chainId)
  if (reading.kind !== 'ok') return reading
  const { request, nonce } = reading.value
  const refusal = checkRequest(request, account, network)
  if (refusal) return { kind: 'refused', refusal }
  if (nonce > MAX_NONCE) return invalid(`nonce: at most ${MAX_NONCE} is expected.`)
  const fees = explicitFees(request)
  if (fees === undefined)
    return invalid(
      'gas_price: expected, or max_fee_per_gas with max_priority_fee_per_gas; this operation sets no price.',
    )
  const { gasLimit = 0n, to, value, data = '0x' } = request
  const content = { type: 'evm', value, data, gasLimit, fees } as const
  const draft: EvmDraft = to === undefined ? content : { to, ...content }
  return ok({
    request,
    effects: evmEffects(request, account.address),
    cost: value + gasLimit * ceilingOf(fees),
    nextNonce: { address: account.address, nonce: nonce + 1n },
    sign: (signer) => signDraft({ draft, nonce, chainId: network.chainId }, signer),
  })
}

const AT = 'unsigned_transaction'

function readEncoded(encoded: string, chainId: number): Reading {
  const parsed = parse(encoded.toLowerCase() as Hex)
  if (parsed === undefined) return invalid(`${AT}: an unsigned transaction in RLP is expected.`)
  if (parsed.r !== undefined || parsed.s !== undefined)
    return invalid(`${AT}: it is already signed; an unsigned one is expected.`)
  if ((parsed.type !== 'legacy' && parsed.type !== 'eip1559') || (parsed.accessList ?? []).length > 0)
    return refuse('not_supported', `${AT}: type 0, or type 2 without an access list, is expected.`)
  if (parsed.chainId !== chainId)
    return invalid(
      `${AT}: the chain id ${chainId} of the relayer's network is expected, not ${parsed.chainId ?? 'none'}.`,
    )
  const request = toRequest(parsed)
  const nonce = BigInt(parsed.nonce ?? 0)
  return unsignedBytes(parsed) === encoded.toLowerCase()
    ? ok({ request, nonce })
    : invalid(`${AT}: the shortest form of RLP is expected, because nothing else is signed.`)
}

function parse(encoded: Hex) {
  try {
    return parseTransaction(encoded) as TransactionSerializable & { readonly r?: Hex; readonly s?: Hex }
  } catch {
    return undefined // viem throws: not RLP, or not of a type that it knows.
  }
}

function toRequest(parsed: TransactionSerializable): EvmRequest {
  const { to, value = 0n, data, gas = 0n } = parsed
  const prices =
    parsed.type === 'legacy'
      ? { gasPrice: parsed.gasPrice ?? 0n }
      : {
          maxFeePerGas: parsed.maxFeePerGas ?? 0n,
          maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? 0n,
        }
  return {
    type: 'evm',
    value,
    gasLimit: gas,
    ...prices,
    ...(to ? { to: getAddress(to) } : {}),
    ...(data === undefined ? {} : { data }),
  }
}

function ok<T>(value: T): { readonly kind: 'ok'; readonly value: T } {
  return { kind: 'ok', value }
}

function invalid(detail: string): Answer<never> {
  return refuse('invalid_request', detail)
}

function refuse(code: 'invalid_request' | 'not_supported', detail: string): Answer<never> {
  return { kind: 'refused', refusal: { code, detail } }
}
