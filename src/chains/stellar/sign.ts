import {
  FeeBumpTransaction,
  FeeBumpTransactionEnvelope,
  FeeBumpTransactionExt,
  FeeBumpTransactionInnerTx,
  Operation,
  type Transaction,
  TransactionEnvelope,
  TransactionV1Envelope,
} from '@stellar/stellar-sdk/xdr'
import type { SignedDraft } from '../attempt.ts'
import type { SigningContext } from '../chain.ts'
import type { StellarDraft } from './content.ts'
import { hashFeeBump, hashTransaction, openEnvelope, withFields } from './model/envelope.ts'
import { toMuxedAccount } from './model/strkey.ts'
import { totalFee } from './prepare/fees.ts'
import { presentSignature, signHash, stellarSigner } from './signature.ts'

/**
 * Signs a draft. Replacements, externally signed content, and transactions with a channel's sequence number go into a fee bump, which the
 * relayer pays.
 */
export async function signDraft(
  draft: StellarDraft,
  signingContext: SigningContext,
  passphrase: string,
): Promise<SignedDraft> {
  const channel =
    !draft.externallySigned && signingContext.sourceAccount.address !== signingContext.account.address
  const bumped = draft.bumped || channel
  const signer = stellarSigner(signingContext.account.signer)
  if (draft.externallySigned) return bump(openEnvelope(draft.envelope), draft, signingContext, passphrase)
  const tx = fillIn(draft, signingContext, { channel, bumped })
  const hash = hashTransaction(tx, passphrase)
  const signers = channel ? [stellarSigner(signingContext.sourceAccount.signer), signer] : [signer]
  const signed = await Promise.all(signers.map((one) => signHash(hash, one)))
  const envelope = new TransactionV1Envelope({ tx, signatures: signed.map(({ decorated }) => decorated) })
  if (bumped) return bump(envelope, draft, signingContext, passphrase)
  return {
    raw: TransactionEnvelope.envelopeTypeTx(envelope).toXdr(),
    hash: hash.toString('hex'),
    signature: presentSignature(signed[0]?.bytes ?? new Uint8Array()),
  }
}

/**
 * Sets sequence number, fee and, on a channel, sources. Inside a fee bump the transaction itself bids nothing for inclusion, so that nobody can
 * take it out and have it included alone, under a hash that the service does not ask for.
 */
function fillIn(
  draft: StellarDraft,
  { sourceAccount, nonce }: SigningContext,
  { channel, bumped }: { readonly channel: boolean; readonly bumped: boolean },
): Transaction {
  const { tx } = openEnvelope(draft.envelope)
  if (nonce === undefined) throw new Error('a Stellar transaction needs a sequence number')
  const filled = { seqNum: nonce, fee: Number(bumped ? draft.resourceFee : totalFee(draft, false)) }
  if (!channel) return withFields(tx, filled)
  const operations = tx.operations.map(
    ({ sourceAccount, body }) => new Operation({ sourceAccount: sourceAccount ?? tx.sourceAccount, body }),
  )
  return withFields(tx, { ...filled, operations, sourceAccount: toMuxedAccount(sourceAccount.address) })
}

/**
 * Wraps a transaction in a fee bump: the fee is the relayer's, everything else stays as it was signed (CAP-15). The inner hash is stored,
 * because others may wrap the inner transaction, too.
 */
async function bump(
  inner: TransactionV1Envelope,
  draft: StellarDraft,
  { account }: SigningContext,
  passphrase: string,
): Promise<SignedDraft> {
  const tx = new FeeBumpTransaction({
    feeSource: toMuxedAccount(account.address),
    fee: totalFee(draft, true),
    innerTx: FeeBumpTransactionInnerTx.envelopeTypeTx(inner),
    ext: FeeBumpTransactionExt.v0(),
  })
  const hash = hashFeeBump(tx, passphrase)
  const { decorated, bytes } = await signHash(hash, stellarSigner(account.signer))
  const envelope = new FeeBumpTransactionEnvelope({ tx, signatures: [decorated] })
  return {
    raw: TransactionEnvelope.envelopeTypeTxFeeBump(envelope).toXdr(),
    hash: hash.toString('hex'),
    innerHash: hashTransaction(inner.tx, passphrase).toString('hex'),
    signature: presentSignature(bytes),
  }
}
