import { encodeFunctionData, erc20Abi, erc721Abi, erc1155Abi, type Hex, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { MAX_TRANSFERS } from '../../../src/chains/effects.ts'
import { evmTransfers } from '../../../src/chains/evm/effects/transfers.ts'

const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const PAYER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const SELF = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
const PROXY = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001'
const UPTO_PROXY = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'
const token = TOKEN.toLowerCase()
const LARGEST = 2n ** 256n - 1n
const WORD = `0x${'11'.repeat(32)}` as const

const read = (content: { to?: string; value?: bigint; data?: string }) =>
  evmTransfers({ type: 'evm', value: 0n, ...content }, SELF)
const transfersOf = (content: Parameters<typeof read>[0]) => read(content).transfers
const encode = (signature: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: parseAbi([signature] as never), args } as never)
const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [OTHER, 5n] })
const paid = (amount: bigint, from = SELF) => ({ from, to: OTHER, asset: token, amount })

describe('without a call', () => {
  test.each([
    [
      'a value',
      { to: OTHER.toLowerCase(), value: 7n },
      [{ from: SELF, to: OTHER, asset: 'native', amount: 7n }],
    ],
    ['a new contract', { value: 1n, data: '0x6000' }, [{ from: SELF, asset: 'native', amount: 1n }]],
    ['nothing', { to: OTHER }, []],
    ['a payment to itself', { to: SELF, value: 7n }, []],
  ])('%s', (_name, content, want) => {
    expect(transfersOf(content)).toEqual(want)
  })
})

describe('a call of a token', () => {
  const authorization =
    'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce'
  const signed = [PAYER, OTHER, LARGEST, 0n, 1n, WORD]
  test.each([
    ['transfer', transfer, [paid(5n)]],
    [
      'transfer of everything that a word can say',
      encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [OTHER, LARGEST] }),
      [paid(LARGEST)],
    ],
    [
      'transferFrom',
      encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [PAYER, OTHER, 6n] }),
      [paid(6n, PAYER)],
    ],
    [
      'transferWithAuthorization',
      encode(`function transferWithAuthorization(${authorization}, uint8 v, bytes32 r, bytes32 s)`, [
        ...signed,
        27,
        WORD,
        WORD,
      ]),
      [paid(LARGEST, PAYER)],
    ],
    [
      'transferWithAuthorization of a contract that signs',
      encode(`function transferWithAuthorization(${authorization}, bytes signature)`, [...signed, WORD]),
      [paid(LARGEST, PAYER)],
    ],
    [
      'receiveWithAuthorization',
      encode(`function receiveWithAuthorization(${authorization}, uint8 v, bytes32 r, bytes32 s)`, [
        ...signed,
        27,
        WORD,
        WORD,
      ]),
      [paid(LARGEST, PAYER)],
    ],
    [
      'safeTransferFrom of an NFT',
      encodeFunctionData({ abi: erc721Abi, functionName: 'safeTransferFrom', args: [PAYER, OTHER, LARGEST] }),
      [{ ...paid(1n, PAYER), tokenId: LARGEST }],
    ],
    [
      'safeTransferFrom of ERC-1155',
      encodeFunctionData({
        abi: erc1155Abi,
        functionName: 'safeTransferFrom',
        args: [PAYER, OTHER, 3n, 4n, '0x'],
      }),
      [{ ...paid(4n, PAYER), tokenId: 3n }],
    ],
    [
      'safeBatchTransferFrom, without the token of which nothing moves',
      encodeFunctionData({
        abi: erc1155Abi,
        functionName: 'safeBatchTransferFrom',
        args: [PAYER, OTHER, [1n, 2n, 3n], [10n, 0n, 30n], '0x'],
      }),
      [
        { ...paid(10n, PAYER), tokenId: 1n },
        { ...paid(30n, PAYER), tokenId: 3n },
      ],
    ],
    ['transfer with bytes behind it, which tokens ignore', `${transfer}00ff`, [paid(5n)]],
    ['transfer in upper case', `0x${transfer.slice(2).toUpperCase()}`, [paid(5n)]],
  ])('%s', (_name, data, want) => {
    expect(transfersOf({ to: TOKEN, data })).toEqual(want)
  })

  test('a value goes with it to the contract', () => {
    expect(transfersOf({ to: TOKEN, value: 2n, data: transfer })).toEqual([
      { from: SELF, to: TOKEN, asset: 'native', amount: 2n },
      paid(5n),
    ])
  })

  test.each([
    ['an allowance', encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [OTHER, 5n] })],
    ['nothing', encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [OTHER, 0n] })],
    ['arguments that are a byte too short', transfer.slice(0, -2)],
    ['no arguments', transfer.slice(0, 10)],
    ['another selector', `0x39509351${transfer.slice(10)}`],
    [
      'a batch with fewer amounts than tokens',
      encodeFunctionData({
        abi: erc1155Abi,
        functionName: 'safeBatchTransferFrom',
        args: [PAYER, OTHER, [1n, 2n], [10n], '0x'],
      }),
    ],
    [
      'lists that point to themselves',
      `0x2eb2c2d6${'00'.repeat(31)}${'40'.padStart(2, '0')}`.padEnd(2000, '0'),
    ],
  ])('%s moves nothing', (_name, data) => {
    expect(transfersOf({ to: TOKEN, data })).toEqual([])
  })

  test('the code of a delegated account can do anything with a call of itself', () => {
    expect(transfersOf({ to: SELF, data: transfer })).toEqual([])
  })
})

describe('a call of Permit2', () => {
  const permit = '((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit'
  const permits = '((address token, uint256 amount)[] permitted, uint256 nonce, uint256 deadline) permit'
  const allowed = { token: TOKEN, amount: 9n }
  const once = { nonce: 1n, deadline: LARGEST }
  const detail = (amount: bigint) => ({ to: OTHER, requestedAmount: amount })
  const eip2612 = '(uint256 value, uint256 deadline, bytes32 r, bytes32 s, uint8 v) permit2612'
  const approval = { value: 9n, deadline: LARGEST, r: WORD, s: WORD, v: 27 }
  const uptoWitness = '(address to, address facilitator, uint256 validAfter)'
  const uptoTerms = { to: OTHER, facilitator: SELF, validAfter: 0n }
  const CASES: readonly [string, string, Hex, readonly bigint[]][] = [
    [
      'transferFrom',
      PERMIT2,
      encode('function transferFrom(address from, address to, uint160 amount, address token)', [
        PAYER,
        OTHER,
        8n,
        TOKEN,
      ]),
      [8n],
    ],
    [
      'transferFrom of many',
      PERMIT2,
      encode('function transferFrom((address from, address to, uint160 amount, address token)[] details)', [
        [7n, 8n].map((amount) => ({ from: PAYER, to: OTHER, amount, token: TOKEN })),
      ]),
      [7n, 8n],
    ],
    [
      'permitTransferFrom, of the requested amount and not of all that is permitted',
      PERMIT2,
      encode(
        `function permitTransferFrom(${permit}, (address to, uint256 requestedAmount) details, address owner, bytes signature)`,
        [{ permitted: allowed, ...once }, detail(8n), PAYER, WORD],
      ),
      [8n],
    ],
    [
      'permitTransferFrom of many',
      PERMIT2,
      encode(
        `function permitTransferFrom(${permits}, (address to, uint256 requestedAmount)[] details, address owner, bytes signature)`,
        [{ permitted: [allowed, allowed], ...once }, [detail(7n), detail(8n)], PAYER, WORD],
      ),
      [7n, 8n],
    ],
    [
      'permitWitnessTransferFrom',
      PERMIT2,
      encode(
        `function permitWitnessTransferFrom(${permit}, (address to, uint256 requestedAmount) details, address owner, bytes32 witness, string typeText, bytes signature)`,
        [{ permitted: allowed, ...once }, detail(8n), PAYER, WORD, '', WORD],
      ),
      [8n],
    ],
    [
      'permitWitnessTransferFrom of many',
      PERMIT2,
      encode(
        `function permitWitnessTransferFrom(${permits}, (address to, uint256 requestedAmount)[] details, address owner, bytes32 witness, string typeText, bytes signature)`,
        [{ permitted: [allowed], ...once }, [detail(8n)], PAYER, WORD, '', WORD],
      ),
      [8n],
    ],
    [
      'settle of the proxy for payments over HTTP',
      PROXY,
      encode(
        `function settle(${permit}, address owner, (address to, uint256 validAfter) witness, bytes signature)`,
        [{ permitted: allowed, ...once }, PAYER, { to: OTHER, validAfter: 0n }, WORD],
      ),
      [9n],
    ],
    [
      'settleWithPermit of it',
      PROXY,
      encode(
        `function settleWithPermit(${eip2612}, ${permit}, address owner, (address to, uint256 validAfter) witness, bytes signature)`,
        [approval, { permitted: allowed, ...once }, PAYER, { to: OTHER, validAfter: 0n }, WORD],
      ),
      [9n],
    ],
    [
      'settle of the proxy for payments of at most an amount, of what is charged in the end',
      UPTO_PROXY,
      encode(
        `function settle(${permit}, uint256 amount, address owner, ${uptoWitness} witness, bytes signature)`,
        [{ permitted: allowed, ...once }, 8n, PAYER, uptoTerms, WORD],
      ),
      [8n],
    ],
    [
      'settleWithPermit of that',
      UPTO_PROXY,
      encode(
        `function settleWithPermit(${eip2612}, ${permit}, uint256 amount, address owner, ${uptoWitness} witness, bytes signature)`,
        [approval, { permitted: allowed, ...once }, 8n, PAYER, uptoTerms, WORD],
      ),
      [8n],
    ],
  ]

  test.each(CASES)('%s', (_name, to, data, amounts) => {
    expect(transfersOf({ to, data })).toEqual(amounts.map((amount) => paid(amount, PAYER)))
  })

  test.each(CASES)(
    '%s of another contract moves nothing: it names a token that it may not be able to move',
    (_name, _to, data) => {
      expect(transfersOf({ to: OTHER, data })).toEqual([])
    },
  )
})

test('a record shows a hundred transfers, and says that there are more', () => {
  const batch = (count: bigint) => {
    const ids = Array.from({ length: Number(count) }, (_, index) => BigInt(index))
    const amounts = ids.map(() => 1n)
    return encodeFunctionData({
      abi: erc1155Abi,
      functionName: 'safeBatchTransferFrom',
      args: [PAYER, OTHER, ids, amounts, '0x'],
    })
  }
  expect(read({ to: TOKEN, data: batch(100n) })).toMatchObject({ truncated: false })
  const more = read({ to: TOKEN, data: batch(101n) })
  expect(more).toMatchObject({ truncated: true })
  expect(more.transfers).toHaveLength(MAX_TRANSFERS)
})
