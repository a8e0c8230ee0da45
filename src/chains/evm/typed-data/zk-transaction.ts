import { hashStruct } from 'viem/utils'
import type { TypedData } from '../content.ts'
import { TypedDataProblem } from './problem.ts'

/**
 * Networks of the ZK Stack take transactions of type 113, whose signature is one of typed data: a struct `Transaction` in the domain
 * `zkSync`, version `2`, with the chain id. Such a document would move money without any policy of the relayer.
 */
const NAME = 'zkSync'
const VERSION = '2'
const TRANSACTION = 'Transaction'

/** The chain ids whose domains are recognised in their hashed form. A hash shows nothing, so the networks have to be known. */
const KNOWN_CHAIN_IDS: readonly number[] = [
  260, 270, 272, 300, 324, 626, 627, 2741, 11_124, 50_104, 61_166, 978_658, 1_612_127, 531_050_104,
]

const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
] as const

let known: ReadonlySet<string> | undefined

/**
 * Refuses typed data that is a transaction of a ZK Stack network.
 * @throws TypedDataProblem for a document of any chain id, and for hashes of a known one
 */
export function refuseTransaction(data: TypedData): void {
  if (data.kind === 'document') {
    const { domain, primaryType } = data
    if (domain.name === NAME && domain.version === VERSION && primaryType === TRANSACTION)
      throw new TypedDataProblem(
        'body.primaryType',
        `data that is no transaction is expected; ${TRANSACTION} in the domain ${NAME} is one on ZK Stack networks`,
      )
    return
  }
  known ??= new Set(KNOWN_CHAIN_IDS.map(separatorOf))
  if (known.has(data.domainSeparator.toLowerCase()))
    throw new TypedDataProblem(
      'body.domain_separator',
      `a domain other than ${NAME} is expected, as its data can be a transaction; give the whole document`,
    )
}

function separatorOf(chainId: number): string {
  const domain = { name: NAME, version: VERSION, chainId: BigInt(chainId) }
  return hashStruct({ data: domain, primaryType: 'EIP712Domain', types: { EIP712Domain: DOMAIN_TYPE } })
}
