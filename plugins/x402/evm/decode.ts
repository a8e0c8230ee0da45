import { encodeFunctionData, type Hex, hashTypedData, size } from 'viem'
import { Refusal } from '../refusal.ts'
import type { PaymentRequest, Requirements } from '../wire.ts'
import { TOKEN_ABI } from './abi.ts'
import { addressOf, hexOf, integerOf, malformed, objectOf, requirement } from './fields.ts'
import { checkPayer, type EvmPayment, isSame } from './payment.ts'
import { decodePermit2, type Terms } from './permit2.ts'
import { readSignature, split } from './signature.ts'

/**
 * Decodes a payment by EIP-3009 or Permit2, and compares it with what is required. `relayer` is the account
 * that will send it. Throws {@link Refusal}.
 */
export async function decodeEvmPayment(request: PaymentRequest, relayer: Hex): Promise<EvmPayment> {
  const { payload, requirements, scheme } = request
  const asset = requirement('asset', requirements.asset)
  const payee = requirement('payTo', requirements.payTo)
  const method = chosenMethod(payload, requirements)
  const { amount } = requirements
  const terms: Terms = { asset, payee, amount, chainId: Number(request.network.network.slice(7)) }
  if (method === 'permit2') return decodePermit2(request, terms, relayer)
  if (scheme === 'upto')
    throw new Refusal('invalid_payload', 'The scheme upto needs a payment by Permit2: permit2Authorization.')
  return decodeEip3009(payload, { ...terms, ...domainOf(requirements) })
}

function chosenMethod(payload: PaymentRequest['payload'], { extra }: Requirements): EvmPayment['method'] {
  const method = payload.permit2Authorization === undefined ? 'eip3009' : 'permit2'
  const wanted = extra.assetTransferMethod ?? method
  if (wanted === method) return method
  throw new Refusal(
    'invalid_payload',
    `The requirements want ${String(wanted)}, and the payload is of ${method}.`,
  )
}

function domainOf({ extra: { name, version } }: Requirements) {
  if (typeof name === 'string' && typeof version === 'string') return { name, version }
  const message = 'paymentRequirements.extra: needs name and version, the EIP-712 domain of the token.'
  throw new Refusal('invalid_payment_requirements', message)
}

const TRANSFER_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

async function decodeEip3009(
  payload: PaymentRequest['payload'],
  { asset, payee, amount, chainId, name, version }: Terms & { name: string; version: string },
): Promise<EvmPayment> {
  const fields = objectOf(payload, 'authorization')
  const payer = addressOf(fields, 'from')
  const to = addressOf(fields, 'to')
  const value = integerOf(fields, 'value')
  const [validAfter, validBefore] = [integerOf(fields, 'validAfter'), integerOf(fields, 'validBefore')]
  const nonce = hexOf(fields, 'nonce')
  if (size(nonce) !== 32) throw malformed('authorization.nonce', '32 bytes in hexadecimal')
  const refuse = (reason: string, message: string) =>
    new Refusal(`invalid_exact_evm_payload_${reason}`, message, payer)
  if (!isSame(to, payee))
    throw refuse('recipient_mismatch', 'The authorization pays someone else than payTo.')
  if (value !== amount)
    throw refuse('authorization_value_mismatch', `The authorization is for ${value}, not for ${amount}.`)
  checkPayer(payer, payee)
  const hash = hashTypedData({
    domain: { name, version, chainId, verifyingContract: asset },
    types: TRANSFER_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from: payer, to, value, validAfter, validBefore, nonce },
  })
  const signed = await readSignature(payload, hash, payer)
  const args = [payer, to, value, validAfter, validBefore, nonce] as const
  // The older form of the function is the one that every token has; contracts that sign need the newer one.
  const data = signed.signedByKey
    ? encodeFunctionData({
        abi: TOKEN_ABI,
        functionName: 'transferWithAuthorization',
        args: [...args, ...split(signed.signature)],
      })
    : encodeFunctionData({
        abi: TOKEN_ABI,
        functionName: 'transferWithAuthorization',
        args: [...args, signed.signature],
      })
  const move = { to: asset, data }
  return {
    method: 'eip3009',
    payer,
    payee,
    asset,
    amount,
    nonce: BigInt(nonce),
    validAfter,
    validBefore,
    hash,
    ...signed,
    move,
    call: move,
    bringsApproval: false,
    approval: undefined,
  }
}
