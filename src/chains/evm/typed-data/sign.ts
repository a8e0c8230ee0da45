import type { Hex } from 'viem'
import { concat, hexToBytes } from 'viem/utils'
import { inTurns, type Steps } from '../../../lib/concurrency/in-turns.ts'
import type { Signer } from '../../../signers/signer.ts'
import type { Answer } from '../../answer.ts'
import type { Signature } from '../../attempt.ts'
import type { TypedData, TypedDocument, TypedField } from '../content.ts'
import { signEncoded } from '../sign.ts'
import { TypedDataProblem } from './problem.ts'
import { createStructHasher } from './struct.ts'
import { refuseTransaction } from './zk-transaction.ts'

/**
 * Signs structured data (EIP-712). Refuses a document that does not match its types, and data that is a transaction (docs/signatures.md);
 * the refusal names the field.
 */
export async function signTypedData(
  data: TypedData,
  signer: Signer,
): Promise<Exclude<Answer<Signature>, { kind: 'unknown' }>> {
  try {
    refuseTransaction(data)
    return { kind: 'ok', value: await signEncoded(hexToBytes(await inTurns(encode(data))), signer) }
  } catch (error) {
    if (!(error instanceof TypedDataProblem)) throw error
    return { kind: 'refused', refusal: { code: 'invalid_request', detail: error.message } }
  }
}

/**
 * Encodes the bytes whose hash is signed.
 * @throws TypedDataProblem
 */
function* encode(data: TypedData): Steps<Hex> {
  const hashes =
    data.kind === 'hashes' ? [data.domainSeparator as Hex, data.structHash as Hex] : yield* hashesOf(data)
  return concat(['0x1901', ...hashes])
}

/** A document that contains only its domain has no second hash. */
function* hashesOf({ domain, types, primaryType, message }: TypedDocument): Steps<Hex[]> {
  const complete = Object.hasOwn(types, DOMAIN) ? types : { ...types, [DOMAIN]: domainType(domain) }
  const hashStruct = createStructHasher(complete)
  const separator = yield* hashStruct(DOMAIN, domain, 'body.domain')
  if (primaryType !== DOMAIN) return [separator, yield* hashStruct(primaryType, message, 'body.message')]
  const [extra] = Object.keys(message)
  if (extra === undefined) return [separator]
  throw new TypedDataProblem(
    `body.message.${extra}`,
    'nothing is expected, as the domain is all that is signed',
  )
}

const DOMAIN = 'EIP712Domain'

/** The standard fields, in the order of the standard. */
const DOMAIN_FIELDS: readonly TypedField[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
]

function domainType(domain: TypedDocument['domain']): readonly TypedField[] {
  return DOMAIN_FIELDS.filter(({ name }) => Object.hasOwn(domain, name))
}
