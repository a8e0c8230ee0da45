import { type Transaction, TransactionEnvelope, TransactionV1Envelope } from '@stellar/stellar-sdk/xdr'
import { larger } from '../../lib/bigint.ts'
import type { Signer } from '../../signers/signer.ts'
import type { Answer, Refusal } from '../answer.ts'
import type { SignedDraft } from '../attempt.ts'
import type { Reviewed } from '../chain.ts'
import type { UnsignedStellar } from '../unsigned.ts'
import { nextSequence, stellarEffects } from './effects.ts'
import { hashTransaction, readEnvelope } from './model/envelope.ts'
import { underlying } from './model/strkey.ts'
import { feeCap } from './prepare/fees.ts'
import { nativeOutflow } from './prepare/spending.ts'
import { claimsToBeBy, presentSignature, signHash, stellarSigner } from './signature.ts'
import type { StellarAccount } from './types.ts'

const AT = 'unsigned_xdr'

/** `DecoratedSignature signatures<20>` of XDR. */
const MAX_SIGNATURES = 20

/** Reviews a transaction without asking a node: the ledger decides about the sequence number, and the caller chose it. */
export function reviewUnsigned(
  { envelope: xdr }: UnsignedStellar,
  account: StellarAccount,
  passphrase: string,
): Answer<Reviewed> {
  const read = readEnvelope(xdr)
  if (read === undefined) return invalid(`${AT}: a TransactionEnvelope is expected, XDR in base64.`)
  if (read.kind === 'fee_bump') {
    const detail = `${AT}: a transaction is expected; send it with fee_bump to have its fee paid.`
    return { kind: 'refused', refusal: { code: 'not_supported', detail } }
  }
  const { envelope } = read
  const { tx } = envelope
  const self = account.address
  if (tx.operations.length === 0) return invalid(`${AT}: at least one operation is expected.`)
  if (!isWanted(tx, self))
    return invalid(
      `${AT}: the relayer ${self} is expected as the source of the transaction or of an operation.`,
    )
  const refusal = checkFee(tx, account)
  if (refusal) return { kind: 'refused', refusal }
  if (envelope.signatures.length >= MAX_SIGNATURES)
    return invalid(
      `${AT}: at most ${MAX_SIGNATURES - 1} signatures are expected, so that one more fits; it has ${envelope.signatures.length}.`,
    )
  const request = { type: 'stellar', network: '', transactionXdr: xdr } as const
  const source = underlying(tx.sourceAccount)
  const nonce = source === self ? nextSequence(request, self) : undefined
  return {
    kind: 'ok',
    value: {
      effects: stellarEffects(request, self),
      nextNonce: { address: source, nonce: larger(nonce ?? 0n, tx.seqNum + 1n) },
      cost: nativeOutflow(tx.operations, underlying(tx.sourceAccount), self) + feeOf(tx, self),
      sign: (signer) => sign(envelope, signer, passphrase),
    },
  }
}

function isWanted({ sourceAccount, operations }: Transaction, self: string): boolean {
  const sources = [sourceAccount, ...operations.flatMap((operation) => operation.sourceAccount ?? [])]
  return sources.some((source) => underlying(source) === self)
}

/** Returns the fee when the relayer is the source, which pays it. */
function feeOf({ sourceAccount, fee }: Transaction, self: string): bigint {
  return underlying(sourceAccount) === self ? BigInt(fee) : 0n
}

function checkFee(tx: Transaction, { address, policies }: StellarAccount): Refusal | undefined {
  const fee = feeOf(tx, address)
  const cap = feeCap(policies)
  if (fee <= cap) return undefined
  const detail = `${AT}: its fee of ${fee} is above the relayer's max_fee of ${cap} stroops.`
  return { code: 'fee_above_cap', detail }
}

/** Signatures of others stay; an earlier one by the same key would be the same bytes, or invalid. */
async function sign(
  { tx, signatures }: TransactionV1Envelope,
  signer: Signer,
  passphrase: string,
): Promise<SignedDraft> {
  const key = stellarSigner(signer)
  const hash = hashTransaction(tx, passphrase)
  const { decorated, bytes } = await signHash(hash, key)
  const others = signatures.filter((one) => !claimsToBeBy(one, key.publicKey))
  const signed = new TransactionV1Envelope({ tx, signatures: [...others, decorated] })
  return {
    raw: TransactionEnvelope.envelopeTypeTx(signed).toXdr(),
    hash: hash.toString('hex'),
    signature: presentSignature(bytes),
  }
}

function invalid(detail: string): Answer<never> {
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}
