import { createHash } from 'node:crypto'
import type { AccountEntry, DecoratedSignature, SignerKey, Transaction } from '@stellar/stellar-sdk/xdr'
import type { Answer, Refusal } from '../../answer.ts'
import type { PooledClient } from '../../rpc/rpc.ts'
import { readReceiptsEverywhere } from '../inclusion/receipts.ts'
import { hashTransaction, openEnvelope } from '../model/envelope.ts'
import { publicKeyOf, underlying } from '../model/strkey.ts'
import { readAccounts } from '../read/accounts.ts'
import { isBy } from '../sign.ts'

/**
 * Checks with its source account that an externally signed transaction can be included at all: the account
 * exists, its sequence number is not used, and one of its signers has signed. Without this check the relayer
 * would wait for a transaction that the network refuses forever. If the transaction itself used the number,
 * because a third party sent it, the result is a sentence that says so.
 */
export async function checkExternallySigned(
  client: PooledClient,
  envelope: string,
  passphrase: string,
): Promise<Answer<string | undefined>> {
  const { tx, signatures } = openEnvelope(envelope)
  const source = underlying(tx.sourceAccount)
  const [entry] = await readAccounts(client, [source])
  if (entry?.kind !== 'ok') return entry ?? { kind: 'unknown', detail: 'no reply' }
  if (entry.value !== undefined && entry.value.seqNum >= tx.seqNum)
    return explainUsed(client, { tx, source, used: entry.value.seqNum, passphrase })
  const refusal = refuse(tx, { source, account: entry.value, signatures, passphrase })
  return refusal === undefined ? { kind: 'ok', value: undefined } : { kind: 'refused', refusal }
}

interface UsedNumber {
  readonly tx: Transaction
  readonly source: string
  /** The sequence number of the source in the newest ledger. */
  readonly used: bigint
  readonly passphrase: string
}

/**
 * The transaction itself may have used the number: its signer can send it, and anyone can wrap it in a fee
 * bump of their own (CAP-15).
 */
async function explainUsed(
  client: PooledClient,
  { tx, source, used, passphrase }: UsedNumber,
): Promise<Answer<string>> {
  const hash = hashTransaction(tx, passphrase).toString('hex')
  const endpoints = await readReceiptsEverywhere(client, { hashes: [hash], passphrase })
  const answers = endpoints.flat()
  const included = answers.find((answer) => answer.kind === 'included')
  if (included !== undefined) {
    const applied = included.receipt.result?.appliedHash ?? hash
    return {
      kind: 'ok',
      value: `transaction_xdr: the ledger already includes it, as transaction ${applied}.`,
    }
  }
  if (answers.every(({ kind }) => kind === 'unknown'))
    return {
      kind: 'unknown',
      detail: `sequence number ${tx.seqNum} of ${source} is used, and no endpoint returned by which transaction`,
    }
  const detail = `transaction_xdr: its sequence number ${tx.seqNum} is used; the next of ${source} is ${used + 1n}.`
  return { kind: 'refused', refusal: { code: 'invalid_request', detail } }
}

interface Known {
  readonly source: string
  readonly account: AccountEntry | undefined
  readonly signatures: readonly DecoratedSignature[]
  readonly passphrase: string
}

function refuse(tx: Transaction, { source, account, signatures, passphrase }: Known): Refusal | undefined {
  if (account === undefined) {
    return {
      code: 'account_not_found',
      detail: `transaction_xdr: its source ${source} does not exist on the ledger.`,
    }
  }
  const hash = hashTransaction(tx, passphrase)
  const byMaster = signatures.some((one) => isBy(one, publicKeyOf(source), hash))
  if (byMaster || account.signers.some(({ key }) => agrees(key, signatures, hash))) return undefined
  return {
    code: 'invalid_request',
    detail: `transaction_xdr: none of its signatures is by a signer of its source ${source} for this network.`,
  }
}

/** Each kind of signer shows its agreement in its own way (stellar-core `SignatureChecker`). */
function agrees(key: SignerKey, signatures: readonly DecoratedSignature[], hash: Buffer): boolean {
  switch (key.type) {
    case 'signerKeyTypePreAuthTx':
      return hash.equals(key.preAuthTx.toBytes())
    case 'signerKeyTypeHashX':
      return signatures.some(({ signature }) => sha256(signature.toBytes()).equals(key.hashX.toBytes()))
    case 'signerKeyTypeEd25519':
      return signatures.some((one) => isBy(one, key.ed25519.toBytes(), hash))
    case 'signerKeyTypeEd25519SignedPayload': {
      const { ed25519, payload } = key.ed25519SignedPayload
      return signatures.some((one) => isBy(one, ed25519.toBytes(), payload))
    }
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
