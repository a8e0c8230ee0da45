import fc from 'fast-check'
import { encodeFunctionData, parseAbi, parseAbiItem } from 'viem'
import { describe, expect, test } from 'vitest'
import { encodeCall } from '../../../src/chains/evm/call/encode-call.ts'
import type { NamedCall } from '../../../src/chains/evm/content.ts'

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const MOST = 2n ** 256n - 1n

const TOKEN = parseAbi([
  'function transfer(address to, uint256 amount) returns (bool)',
  'function safeTransferFrom(address from, address to, uint256 id)',
  'function safeTransferFrom(address from, address to, uint256 id, bytes data)',
  'event Transfer(address indexed from, address indexed to, uint256 amount)',
])

/** The data, or the sentence of the refusal. */
function outcomeOf(call: NamedCall): string {
  const encoded = encodeCall(call)
  return encoded.kind === 'ok' ? encoded.value : encoded.refusal.detail
}

/** Encodes with viem alone. */
function encodedByViem(signature: string, args: readonly unknown[]): string {
  const item = parseAbiItem(`function ${signature}` as never)
  return encodeFunctionData({ abi: [item], args } as never)
}

describe('a call by name', () => {
  test.each<[string, unknown[], unknown[]]>([
    ['pause()', [], []],
    ['transfer(address,uint256)', [ADDRESS, 1], [ADDRESS, 1n]],
    ['transfer(address,uint256)', [ADDRESS.toLowerCase(), String(MOST)], [ADDRESS, MOST]],
    ['transfer(address to, uint amount)', [ADDRESS, MOST], [ADDRESS, MOST]],
    ['f(int8,int256)', [-128, '-5'], [-128, -5n]],
    ['f(bool,string,bytes,bytes4)', [true, 'é', '0xABcd', '0x01020304'], [true, 'é', '0xabcd', '0x01020304']],
    [
      'f(uint256[],address[2])',
      [
        [1, '2', 3n],
        [ADDRESS, ADDRESS],
      ],
      [
        [1n, 2n, 3n],
        [ADDRESS, ADDRESS],
      ],
    ],
    ['f((address,uint256)[] x)', [[[ADDRESS, 1]]], [[[ADDRESS, 1n]]]],
    [
      'f((address to,(uint256 value,bytes data)[2] calls) x)',
      [{ to: ADDRESS, calls: [{ data: '0x', value: 1 }, [2, '0x01']] }],
      [
        {
          to: ADDRESS,
          calls: [
            { value: 1n, data: '0x' },
            { value: 2n, data: '0x01' },
          ],
        },
      ],
    ],
    ['f(uint256[][3])', [[[], [1], [1, 2]]], [[[], [1n], [1n, 2n]]]],
  ])('%s is encoded as viem does', (signature, args, values) => {
    expect(outcomeOf({ function: signature, args })).toBe(encodedByViem(signature, values))
  })

  test('the name alone is enough where the ABI has one such function', () => {
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [ADDRESS, 7n] })
    expect(outcomeOf({ abi: TOKEN, function: 'transfer', args: [ADDRESS, 7] })).toBe(data)
  })

  test('a signature chooses among functions of one name', () => {
    const args = [ADDRESS, ADDRESS, 1n, '0x'] as const
    const data = encodeFunctionData({ abi: TOKEN, functionName: 'safeTransferFrom', args })
    const wanted = 'safeTransferFrom(address,address,uint256,bytes)'
    expect(outcomeOf({ abi: TOKEN, function: wanted, args })).toBe(data)
  })

  test('every integer of every size is exact, or refused when it does not fit', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 32 }),
        fc.boolean(),
        fc.bigInt({ min: -(2n ** 257n), max: 2n ** 257n }),
        (bytes, signed, value) => {
          const type = `${signed ? 'int' : 'uint'}${bytes * 8}`
          const [least, most] = signed
            ? [-(2n ** BigInt(bytes * 8 - 1)), 2n ** BigInt(bytes * 8 - 1) - 1n]
            : [0n, 2n ** BigInt(bytes * 8) - 1n]
          const outcome = outcomeOf({ function: `f(${type})`, args: [String(value)] })
          if (value < least || value > most)
            expect(outcome).toContain(`call.args[0]: expected a value of type ${type}`)
          else expect(outcome).toBe(encodedByViem(`f(${type})`, [value]))
        },
      ),
    )
  })
})

describe('what does not fit is refused with its place', () => {
  test.each<[NamedCall, string]>([
    [
      { function: 'transfer', args: [] },
      'call.function: expected a signature such as transfer(address,uint256), or the function in call.abi.',
    ],
    [{ function: 'transfer(', args: [] }, 'call.function: the end is not a Solidity type.'],
    [
      { function: '(address)', args: [] },
      'call.function: expected a signature such as transfer(address,uint256).',
    ],
    [{ function: 'f(address,)', args: [] }, 'call.function: ) is not a Solidity type.'],
    [{ function: 'f(uint7)', args: [] }, 'call.function: uint7 is not a Solidity type.'],
    [{ function: 'f(uint264)', args: [] }, 'call.function: uint264 is not a Solidity type.'],
    [{ function: 'f(bytes33)', args: [] }, 'call.function: bytes33 is not a Solidity type.'],
    [
      { function: 'f(address) view', args: [] },
      'call.function: expected a signature such as transfer(address,uint256).',
    ],
    [{ function: 'f(uint256)' }, 'call.args: expected 1 arguments of f(uint256), not 0.'],
    [
      { function: 'f(address,uint8)', args: [ADDRESS, 256] },
      'call.args[1]: expected a value of type uint8; an integer from 0 to 255 is expected.',
    ],
    [
      { function: 'f(uint256)', args: [0.5] },
      `call.args[0]: expected a value of type uint256; an integer from 0 to ${MOST} is expected.`,
    ],
    [
      { function: 'f(address)', args: ['0x1'] },
      'call.args[0]: expected a value of type address; 0x and 40 hexadecimal digits are expected.',
    ],
    [
      { function: 'f(bytes2[])', args: [['0x0102', '0x01']] },
      'call.args[0][1]: expected a value of type bytes2; 0x and 4 hexadecimal digits are expected.',
    ],
    [{ function: 'f(bool[2])', args: [[true]] }, 'call.args[0]: expected a list of 2 values.'],
    [{ function: 'f(bool[])', args: [{}] }, 'call.args[0]: expected a list.'],
    [{ function: 'f((bool a) x)', args: [null] }, 'call.args[0]: expected a list of values, or an object.'],
    [
      { function: 'f((bool) x)', args: [{ a: true }] },
      'call.args[0]: expected a list of values, because some have no unique name.',
    ],
    [{ function: 'f((bool a) x)', args: [{}] }, 'call.args[0].a: is required.'],
    [
      { function: 'f((bool a) x)', args: [{ a: true, b: 1 }] },
      'call.args[0]: expected the fields a, and no others.',
    ],
    [
      { function: 'f((bool,bool))', args: [[true]] },
      'call.args[0]: expected 2 values, as many as the tuple has.',
    ],
    [
      { abi: TOKEN, function: 'safeTransferFrom', args: [] },
      'call.function: several have this name; expected one of safeTransferFrom(address,address,uint256), safeTransferFrom(address,address,uint256,bytes).',
    ],
    [
      { abi: TOKEN.slice(0, 1), function: 'burn', args: [] },
      'call.function: expected a function of call.abi, which has transfer(address,uint256).',
    ],
    [{ abi: [7], function: 'f', args: [] }, 'call.abi[0]: expected an object.'],
    [
      { abi: [{ type: 'function' }], function: 'f', args: [] },
      'call.abi[0].name: expected a name of letters, digits, _ and $.',
    ],
    [
      { abi: [{ name: 'f', inputs: {} }], function: 'f', args: [] },
      'call.abi[0].inputs: expected a list of parameters.',
    ],
    [
      { abi: [{ name: 'f', inputs: [{}] }], function: 'f', args: [] },
      'call.abi[0].inputs[0].type: expected the name of a type.',
    ],
    [
      { abi: [{ name: 'f', inputs: [{ type: 'enum' }] }], function: 'f', args: [] },
      'call.abi[0].inputs[0].type: expected a type of Solidity, such as uint256, address[] or tuple.',
    ],
    [
      { abi: [{ name: 'f', inputs: [{ type: 'tuple' }] }], function: 'f', args: [] },
      'call.abi[0].inputs[0].components: expected a list of parameters.',
    ],
    [
      { function: 'f(bytes)', args: [`0x${'00'.repeat(131_072)}`] },
      'call.args: expected at most 131072 bytes of data, not 131140.',
    ],
  ])('%j', (call, sentence) => {
    expect(outcomeOf(call)).toBe(sentence)
  })

  test('more values than fit into the data are refused before they are read', () => {
    const args = [Array.from({ length: 4097 }, () => 'no integer')]
    expect(outcomeOf({ function: 'f(uint256[])', args })).toBe(
      'call.args: expected at most 4096 values, which are 131072 bytes of data.',
    )
  })

  test('no text is too strange to be refused', () => {
    const piece = fc.constantFrom(
      'f',
      '(',
      ')',
      ',',
      '[',
      ']',
      '[2]',
      'uint',
      'bytes1',
      ' ',
      'tuple',
      '__proto__',
      '0',
    )
    const value = fc.jsonValue({ maxDepth: 3 })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(value, { maxLength: 3 }), (pieces, args) => {
        expect(outcomeOf({ function: pieces.join(''), args })).toMatch(/^(0x[0-9a-f]+|call\..*\.)$/s)
      }),
    )
  })
})
