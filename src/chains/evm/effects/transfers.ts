import type { AbiParameter, Hex } from 'viem'
import { decodeAbiParameters, getAddress, parseAbiParameters } from 'viem/utils'
import { boundTransfers, NATIVE, type Transfer, type Transfers } from '../../effects.ts'
import { MAX_BYTES } from '../call/decode-call.ts'
import type { EvmDraft, EvmRequest } from '../content.ts'

/** Tokens that a call moves, or lets another account take. Addresses are as in EIP-55. */
interface TokenMove {
  /** Absent for the sender of the call. */
  readonly from?: string
  readonly to: string
  readonly amount: bigint
  /** The token; absent for the called contract. */
  readonly token?: string
  /** The token among those of one contract (ERC-721, ERC-1155). */
  readonly tokenId?: bigint
}

/** The characters of `0x` and four bytes. */
export const SELECTOR_CHARACTERS = 10

/** The selector of `approve`, which moves nothing yet. */
export const APPROVE = '0x095ea7b3'

/** Reads the arguments of a call; undefined if they are too short. */
type ReadMoves = (args: Hex) => readonly TokenMove[] | undefined

/**
 * Contracts ignore bytes behind the arguments, and the first twelve bytes of an address if they ignore any;
 * so does this. Too few bytes are no call of a token: each may interpret them in its own way.
 */
function reader<const P extends readonly AbiParameter[]>(
  parameters: P,
  movesOf: (args: ReturnType<typeof decodeAbiParameters<P>>) => readonly TokenMove[],
): ReadMoves {
  return (args) => {
    try {
      return movesOf(decodeAbiParameters(parameters, args))
    } catch {
      return undefined // The library throws for arguments that are too short.
    }
  }
}

/**
 * The calls of ERC-20 that move tokens of the caller, or that others gave it, or allow others to take them.
 */
const ERC20_CALLS: ReadonlyMap<string, ReadMoves> = new Map([
  [
    '0xa9059cbb', // transfer
    reader(parseAbiParameters('address, uint256'), ([to, amount]) => [{ to, amount }]),
  ],
  [APPROVE, reader(parseAbiParameters('address, uint256'), ([to, amount]) => [{ to, amount }])],
  [
    // transferFrom. Of a contract of ERC-721 it has the same bytes, and the amount is the id of the token.
    '0x23b872dd',
    reader(parseAbiParameters('address, address, uint256'), ([from, to, amount]) => [{ from, to, amount }]),
  ],
])

const AUTHORIZED = 'address, address, uint256, uint256, uint256, bytes32'
const authorized = (signature: 'uint8, bytes32, bytes32' | 'bytes') =>
  reader(
    parseAbiParameters(`${AUTHORIZED}, ${signature}`) as readonly AbiParameter[],
    ([from, to, amount]) => [{ from: from as string, to: to as string, amount: amount as bigint }],
  )
const oneToken = ([from, to, tokenId]: readonly [string, string, bigint, ...unknown[]]) => [
  { from, to, tokenId, amount: 1n },
]

/**
 * Further calls of a token, which move what others signed for (EIP-3009), or a single token (ERC-721,
 * ERC-1155).
 */
const OTHER_CALLS: ReadonlyMap<string, ReadMoves> = new Map([
  ['0xe3ee160e', authorized('uint8, bytes32, bytes32')], // transferWithAuthorization
  ['0xcf092995', authorized('bytes')],
  ['0xef55bec6', authorized('uint8, bytes32, bytes32')], // receiveWithAuthorization
  ['0x88b7ab63', authorized('bytes')],
  ['0x42842e0e', reader(parseAbiParameters('address, address, uint256'), oneToken)], // safeTransferFrom (ERC-721)
  ['0xb88d4fde', reader(parseAbiParameters('address, address, uint256, bytes'), oneToken)],
  [
    '0xf242432a', // safeTransferFrom (ERC-1155)
    reader(parseAbiParameters('address, address, uint256, uint256, bytes'), ([from, to, tokenId, amount]) => [
      { from, to, tokenId, amount },
    ]),
  ],
  [
    '0x2eb2c2d6', // safeBatchTransferFrom
    reader(parseAbiParameters('address, address, uint256[], uint256[], bytes'), ([from, to, ids, amounts]) =>
      ids.length === amounts.length
        ? ids.map((tokenId, index) => ({ from, to, tokenId, amount: amounts[index] ?? 0n }))
        : [],
    ),
  ],
])

/** Uniswap's Permit2, at the same address on every chain. */
const PERMIT2 = '0x000000000022d473030f116ddee9f6b43ac78ba3'

/** x402ExactPermit2Proxy, at the same address on every chain. */
const PERMIT2_PROXY = '0x402085c248eea27d92e8b30b2c58ed07f9e20001'

/** x402UptoPermit2Proxy, at the same address on every chain. */
const UPTO_PROXY = '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002'

const PERMIT = '((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline)'
const PERMITS = '((address token, uint256 amount)[] permitted, uint256 nonce, uint256 deadline)'
const DETAILS = '(address to, uint256 amount)'

interface Permitted {
  readonly permitted: { readonly token: string }
}
interface PermittedBatch {
  readonly permitted: readonly { readonly token: string }[]
}
interface Details {
  readonly to: string
  readonly amount: bigint
}

const permitted = ([
  {
    permitted: { token },
  },
  { to, amount },
  from,
]: readonly [Permitted, Details, string, ...unknown[]]) => [{ from, to, token, amount }]

const permittedBatch = ([{ permitted: tokens }, details, from]: readonly [
  PermittedBatch,
  readonly Details[],
  string,
  ...unknown[],
]) =>
  details.flatMap(({ to, amount }, index) => {
    const token = tokens[index]?.token
    return token === undefined ? [] : [{ from, to, token, amount }]
  })

/** A tuple of words is encoded as the words. */
const EIP2612 = parseAbiParameters('uint256, uint256, bytes32, bytes32, uint8')
const EXACT = parseAbiParameters(`${PERMIT}, address, (address, uint256), bytes`)
const UPTO = parseAbiParameters(`${PERMIT}, uint256, address, (address, address, uint256), bytes`)

/** It names the payee first. */
type Witness = readonly [string, ...unknown[]]

const settled = ([
  {
    permitted: { token, amount },
  },
  from,
  [to],
]: readonly [
  Permitted & { readonly permitted: { readonly amount: bigint } },
  string,
  Witness,
  ...unknown[],
]) => [{ from, to, token, amount }]

const settledUpTo = ([
  {
    permitted: { token },
  },
  amount,
  from,
  [to],
]: readonly [Permitted, bigint, string, Witness, ...unknown[]]) => [{ from, to, token, amount }]

/**
 * Calls that name the token among their arguments. Only those of known contracts count: any other could name
 * a token that it cannot move.
 */
const KNOWN_CONTRACTS: ReadonlyMap<string, ReadonlyMap<string, ReadMoves>> = new Map([
  [
    PERMIT2,
    new Map([
      [
        '0x36c78516', // transferFrom
        reader(parseAbiParameters('address, address, uint160, address'), ([from, to, amount, token]) => [
          { from, to, amount, token },
        ]),
      ],
      [
        '0x0d58b1db', // transferFrom of many
        reader(
          parseAbiParameters('(address from, address to, uint160 amount, address token)[]'),
          ([transfers]) => transfers,
        ),
      ],
      // permitTransferFrom and permitWitnessTransferFrom, of one token and of many
      ['0x30f28b7a', reader(parseAbiParameters(`${PERMIT}, ${DETAILS}, address, bytes`), permitted)],
      [
        '0x137c29fe',
        reader(parseAbiParameters(`${PERMIT}, ${DETAILS}, address, bytes32, string, bytes`), permitted),
      ],
      ['0xedd9444b', reader(parseAbiParameters(`${PERMITS}, ${DETAILS}[], address, bytes`), permittedBatch)],
      [
        '0xfe8ec1a7',
        reader(
          parseAbiParameters(`${PERMITS}, ${DETAILS}[], address, bytes32, string, bytes`),
          permittedBatch,
        ),
      ],
    ]),
  ],
  [
    PERMIT2_PROXY,
    new Map([
      ['0x13cd3b53', reader(EXACT, settled)], // settle
      [
        '0xfa340378', // settleWithPermit
        reader([...EIP2612, ...EXACT] as const, ([, , , , , permit, from, witness]) =>
          settled([permit, from, witness]),
        ),
      ],
    ]),
  ],
  [
    UPTO_PROXY,
    new Map([
      ['0xff11e7b4', reader(UPTO, settledUpTo)], // settle
      [
        '0x016c1748', // settleWithPermit
        reader([...EIP2612, ...UPTO] as const, ([, , , , , permit, amount, from, witness]) =>
          settledUpTo([permit, amount, from, witness]),
        ),
      ],
    ]),
  ],
])

/** Tells whether the selector is that of a call of ERC-20, whose effects the rules read. */
export function isErc20Call(selector: string): boolean {
  return ERC20_CALLS.has(selector)
}

/**
 * Reads a call of ERC-20, `approve` included; undefined for other calls and for arguments that are too short.
 */
export function readErc20Call(data: Hex): TokenMove | undefined {
  return read(ERC20_CALLS, data.slice(0, ERC20_CHARACTERS) as Hex)?.[0]
}

/** The characters of the longest call of ERC-20: its three arguments have 32 bytes each. */
const ERC20_CHARACTERS = SELECTOR_CHARACTERS + 3 * 64

/**
 * Reads what content moves if it succeeds: its value, and the tokens of a call. What the code of other
 * contracts moves is not known.
 */
export function evmTransfers({ to, value, data = '0x' }: EvmRequest | EvmDraft, sender: string): Transfers {
  // The address of a new contract is not known before its nonce.
  if (to === undefined) return boundTransfers([{ from: sender, asset: NATIVE, amount: value }])
  const target = to.toLowerCase()
  const isOwn = target === sender.toLowerCase()
  const native: Transfer = { from: sender, to: getAddress(to), asset: NATIVE, amount: isOwn ? 0n : value }
  // A delegated account (EIP-7702) has code, which does what its owner wrote when it is called.
  const moves = isOwn ? [] : readTokenMoves(target, data.toLowerCase() as Hex)
  return boundTransfers([
    native,
    ...moves.map(
      ({ from = sender, to: receiver, amount, token, tokenId }): Transfer => ({
        from,
        to: receiver,
        asset: token?.toLowerCase() ?? target,
        amount,
        ...(tokenId !== undefined && { tokenId }),
      }),
    ),
  ])
}

/**
 * Reads the tokens that a call of a contract moves if the contract does what the standard says; none for
 * other calls.
 * @param target In lower case, like `data`.
 */
function readTokenMoves(target: string, data: Hex): readonly TokenMove[] {
  if (data.startsWith(APPROVE)) return []
  const ofErc20 = readErc20Call(data)
  if (ofErc20 !== undefined) return [ofErc20]
  if (data.length / 2 - 1 > MAX_BYTES) return []
  return read(KNOWN_CONTRACTS.get(target) ?? OTHER_CALLS, data) ?? []
}

function read(calls: ReadonlyMap<string, ReadMoves>, data: Hex): readonly TokenMove[] | undefined {
  return calls.get(data.slice(0, SELECTOR_CHARACTERS))?.(`0x${data.slice(SELECTOR_CHARACTERS)}`)
}
