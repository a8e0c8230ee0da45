import type { OperationId } from '../../../src/contract/operations.ts'

/** The default limit of a body, in bytes. */
export const BODY_BYTES = 1_048_576

/** A body that costs much work in proportion to its bytes. */
interface WorstBody {
  readonly name: string
  readonly text: Text
}

/** Writes the text of a body with at most this many values. */
type Text = string | ((mostValues: number) => string)

/** Repeats an item until the body is full, or has this many values. */
function filled(before: string, item: (index: number) => string, after: string): Text {
  return (mostValues) => {
    const items: string[] = []
    let bytes = Buffer.byteLength(before + after)
    let values = valuesOf(before + after)
    for (let index = 0; ; index += 1) {
      const next = item(index)
      bytes += Buffer.byteLength(next) + 1
      values += valuesOf(next)
      if (bytes > BODY_BYTES || values > mostValues) return before + items.join(',') + after
      items.push(next)
    }
  }
}

/** Counts values at least as high as the service does. */
function valuesOf(text: string): number {
  return 1 + (text.match(/[,[{]/g)?.length ?? 0)
}

/** A list of equal items that fills the body, in the place of `@`. */
function listIn(template: string, item: string): Text {
  const [before = '', after = ''] = template.split('@')
  return filled(`${before}[`, () => item, `]${after}`)
}

/** A text that fills the body, in the place of `@`. */
function textIn(template: string, unit: string): string {
  const [before = '', after = ''] = template.split('@')
  const room = BODY_BYTES - Buffer.byteLength(before + after) - 2
  // Hexadecimal and base64 have to have whole groups, and so do escapes.
  const count = Math.floor(room / unit.length / 12) * 12
  return `${before}"${unit.repeat(count)}"${after}`
}

const objectOf = (item: (index: number) => string) => filled('{', item, '}')

/** Bodies that every operation gets, whatever it expects. */
const ANYWHERE: readonly WorstBody[] = [
  { name: 'unknown keys', text: objectOf((index) => `"x${index}":0`) },
  { name: 'unknown keys with escapes', text: objectOf((index) => `"\\u00e9${index}":"\\ud83d\\ude00"`) },
  { name: 'equal keys', text: objectOf(() => '"a":1') },
  { name: 'exponents', text: listIn('@', '1e1') },
  { name: 'exponents in a field', text: listIn('{"value":@}', '1e1') },
  { name: 'integers of 400 digits', text: listIn('{"value":@}', '9'.repeat(400)) },
  { name: 'one integer of all digits', text: `{"value":${'9'.repeat(BODY_BYTES - 12)}}` },
  { name: 'zeros behind a point', text: `{"value":1.${'0'.repeat(BODY_BYTES - 14)}}` },
  { name: 'empty objects', text: listIn('@', '{}') },
  { name: 'empty lists, nested', text: listIn('{"a":@}', '[[[[[[]]]]]]') },
  { name: 'deep', text: listIn('@', `${'['.repeat(30)}${']'.repeat(30)}`) },
  { name: 'a text of backslashes', text: textIn('@', '\\\\') },
  { name: 'a text of escapes', text: textIn('{"name":@}', '\\u00e9') },
  { name: 'quotes without an end', text: `"${'\\"'.repeat(BODY_BYTES / 2 - 2)}` },
  { name: 'half surrogates at the end', text: textIn('{"message":@,"x":"\\ud800"}', 'x') },
]

const SCHEMA_LISTS = (fields: readonly string[], item: string): WorstBody[] =>
  fields.map((field) => ({ name: `list in ${field}`, text: listIn(`{${field}:@}`, item) }))

const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const STELLAR = 'GBRPYHIL2CI3FNQ4BXLFMNDLFJUNPU2HY3ZMFSHONUCEOASW7QC7OX2H'
const PROGRAM = '11111111111111111111111111111111'

const urls = (head: string) => ({
  name: 'urls',
  text: filled(`{${head}"rpc_urls":[`, (index) => `"http://127.0.0.1:9/${index}"`, ']}'),
})
const customUrls = (head: string) => ({
  name: 'urls of a relayer',
  text: filled(`{${head}"custom_rpc_urls":[`, (index) => `{"url":"http://127.0.0.1:9/${index}"}`, ']}'),
})
const policies = (head: string): WorstBody[] => [
  {
    name: 'receivers',
    text: filled(
      `{${head}"policies":{"whitelist_receivers":[`,
      (index) => `"0x${index.toString(16).padStart(40, '0')}"`,
      ']}}',
    ),
  },
  {
    name: 'programs',
    text: filled(`{${head}"policies":{"allowed_programs":[`, () => `"${PROGRAM}"`, ']}}'),
  },
  {
    name: 'methods',
    text: filled(`{${head}"policies":{"allowed_rpc_methods":[`, (index) => `"m${index}"`, ']}}'),
  },
  { name: 'unknown policies', text: filled(`{${head}"policies":{`, (index) => `"x${index}":0`, '}}') },
]

/** Structured data with a list of this type in it. */
function typedData(type: string, item: string, structs = ''): Text {
  const types = `{"M":[{"name":"a","type":"${type}"}]${structs}}`
  return filled(`{"domain":{},"types":${types},"primaryType":"M","message":{"a":[`, () => item, ']}}')
}

const transaction = (more: readonly WorstBody[]): WorstBody[] => [
  {
    name: 'arguments of a call',
    text: listIn(
      `{"to":"${ADDRESS}","value":1,"call":{"function":"f(uint256[])","args":[@]}}`,
      '18446744073709551615',
    ),
  },
  {
    name: 'tuples of a call',
    text: listIn(
      `{"to":"${ADDRESS}","value":1,"call":{"function":"f((bool a)[])","args":[@]}}`,
      '{"a":true}',
    ),
  },
  {
    name: 'an ABI',
    text: listIn(`{"to":"${ADDRESS}","value":1,"call":{"function":"f","abi":@}}`, '{"name":"g"}'),
  },
  {
    name: 'data',
    text: textIn(`{"to":"${ADDRESS}","value":1,"data":@}`, '00').replace('"data":"00', '"data":"0x'),
  },
  { name: 'XDR', text: textIn('{"network":"standalone","transaction_xdr":@}', 'AAAA') },
  { name: 'XDR of a long list', text: textIn('{"network":"standalone","transaction_xdr":@}', 'AAAAAgAA') },
  { name: 'Solana wire format', text: textIn('{"transaction":@}', 'AQAA') },
  {
    name: 'operations',
    text: listIn(
      '{"network":"standalone","operations":@}',
      `{"type":"payment","destination":"${STELLAR}","asset":{"type":"native"},"amount":1}`,
    ),
  },
  { name: 'operations of no kind', text: listIn('{"network":"standalone","operations":@}', '{}') },
  {
    name: 'arguments of a contract',
    text: listIn(
      '{"network":"standalone","operations":[{"type":"invoke_contract","contract_address":"CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA","function_name":"f","args":@}]}',
      '{"u64":"1"}',
    ),
  },
  {
    name: 'arguments of a contract, nested',
    text: listIn(
      '{"network":"standalone","operations":[{"type":"invoke_contract","contract_address":"CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA","function_name":"f","args":[{"vec":@}]}]}',
      '{"vec":[{"vec":[]}]}',
    ),
  },
  {
    name: 'arguments of no kind',
    text: listIn(
      '{"network":"standalone","operations":[{"type":"invoke_contract","contract_address":"CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA","function_name":"f","args":@}]}',
      '{"x":1}',
    ),
  },
  {
    name: 'bytes of a memo',
    text: listIn('{"network":"standalone","operations":[],"memo":{"type":"hash","value":@}}', '0'),
  },
  {
    name: 'instructions',
    text: listIn('{"instructions":@}', `{"program_id":"${PROGRAM}","accounts":[],"data":""}`),
  },
  {
    name: 'accounts of an instruction',
    text: listIn(
      `{"instructions":[{"program_id":"${PROGRAM}","data":"","accounts":@}]}`,
      `{"pubkey":"${PROGRAM}","is_signer":false,"is_writable":false}`,
    ),
  },
  {
    name: 'data of an instruction',
    text: textIn(`{"instructions":[{"program_id":"${PROGRAM}","accounts":[],"data":@}]}`, 'AQAA'),
  },
  ...more,
]

const NEW_RELAYER = '"name":"n","network":"anvil","network_type":"evm","signer_id":"dev-0",'

/** The account of the relayer on EVM in this attack, the second of the test accounts. */
const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** The worst bodies of each operation, besides those that each gets. */
const WORST_BODIES: Readonly<Partial<Record<OperationId, readonly WorstBody[]>>> = {
  createRelayer: [
    customUrls(NEW_RELAYER),
    ...policies(NEW_RELAYER),
    { name: 'channels', text: filled(`{${NEW_RELAYER}"channels":[`, (index) => `"c${index}"`, ']}') },
  ],
  updateRelayer: [customUrls(''), ...policies('')],
  signMessage: [
    { name: 'a long message', text: textIn('{"message":@}', 'x') },
    { name: 'a long message of escapes', text: textIn('{"message":@}', '\\u0001') },
    { name: 'a message like accounts', text: textIn('{"message":@}', '\\u0001\\u0000\\u0001~') },
  ],
  signAuthorizationEntry: [
    { name: 'XDR', text: textIn('{"preimage_xdr":@}', 'AAAA') },
    { name: 'XDR of the longest length', text: `{"preimage_xdr":"${'AAAACQAA'.repeat(22_016)}"}` },
  ],
  signTypedData: [
    { name: 'structs', text: typedData('E[]', '{}', ',"E":[]') },
    { name: 'texts', text: typedData('string[]', '""') },
    { name: 'lists', text: typedData('uint8[][]', '[]') },
    { name: 'integers', text: typedData('uint8[]', '1') },
    { name: 'integers in hexadecimal', text: typedData('uint256[]', '"0x1"') },
    {
      name: 'one long text',
      text: textIn(
        '{"domain":{},"types":{"M":[{"name":"a","type":"string"}]},"primaryType":"M","message":{"a":@}}',
        'x',
      ),
    },
    {
      name: 'one long bytes',
      text: textIn(
        '{"domain":{},"types":{"M":[{"name":"a","type":"bytes"}]},"primaryType":"M","message":{"a":@}}',
        '00',
      ).replace('"a":"00', '"a":"0x'),
    },
    {
      name: 'an unknown field in many',
      text: objectOf((index) =>
        index === 0 ? '"domain":{},"types":{"M":[]},"primaryType":"M","message":{"a":1}' : `"y${index}":1`,
      ),
    },
    {
      name: 'a wide message',
      text: filled(
        '{"domain":{},"types":{"M":[]},"primaryType":"M","message":{',
        (index) => `"x${index}":0`,
        '}}',
      ),
    },
    {
      name: 'types',
      text: filled(
        '{"domain":{},"primaryType":"M","message":{},"types":{',
        (index) => `"T${index}":[]`,
        '}}',
      ),
    },
    { name: 'types that refer to each other', text: JSON.stringify(mesh()) },
    { name: 'ten thousand values', text: tenThousand('E[]', { s: 'x', u: 1 }) },
  ],
  signTransaction: [
    { name: 'XDR', text: textIn('{"unsigned_xdr":@}', 'AAAA') },
    { name: 'Solana wire format', text: textIn('{"transaction":@}', 'AQAA') },
    { name: 'RLP', text: textIn('{"unsigned_transaction":@}', '00').replace(':"00', ':"0x') },
    {
      name: 'RLP of lists',
      text: textIn('{"unsigned_transaction":@}', 'c0').replace(':"c0c0c0c0c0', ':"0xfa0f0000'),
    },
    {
      name: 'RLP of nested lists',
      text: textIn('{"unsigned_transaction":@}', 'c1').replace(':"c1c1', ':"0x02'),
    },
  ],
  callRpc: [
    { name: 'documents in a batch', text: documentsInBatch() },
    { name: 'params of exponents', text: listIn('{"method":"eth_call","params":@}', '1e1') },
    { name: 'params of objects', text: listIn('{"method":"eth_call","params":@}', '{}') },
    { name: 'params of integers', text: listIn('{"method":"eth_call","params":@}', '1') },
    {
      name: 'params of wide integers',
      text: listIn('{"method":"eth_call","params":@}', '18446744073709551615'),
    },
    {
      name: 'params with keys',
      text: filled('{"method":"eth_call","params":{', (index) => `"x${index}":1`, '}}'),
    },
    { name: 'a long batch', text: listIn('@', '{"method":"eth_chainId"}') },
    { name: 'one long text', text: textIn('{"method":"eth_call","params":[@]}', 'x') },
    { name: 'one long id', text: textIn('{"method":"eth_chainId","id":@}', 'x') },
  ],
  sendTransaction: transaction([]),
  sendTransactionBatch: [
    { name: 'items', text: listIn('{"transactions":@}', `{"to":"${ADDRESS}","value":1}`) },
    {
      name: 'operations of one item',
      text: listIn(
        '{"transactions":[{"network":"standalone","operations":@}]}',
        `{"type":"payment","destination":"${STELLAR}","asset":{"type":"native"},"amount":1}`,
      ),
    },
    {
      name: 'data of an item',
      text: textIn(`{"transactions":[{"to":"${ADDRESS}","value":1,"data":@}]}`, '00').replace(
        '"data":"00',
        '"data":"0x',
      ),
    },
  ],
  replaceTransaction: transaction([]),
  createNotification: SCHEMA_LISTS(['"url"', '"signing_key"'], '1'),
  updateNotification: SCHEMA_LISTS(['"url"', '"paused"'], '1'),
  redeliverDeliveries: [
    { name: 'ids', text: filled('{"ids":[', (index) => `"${index.toString().padStart(36, '0')}"`, ']}') },
  ],
  rotateSigningKey: [{ name: 'a long key', text: textIn('{"signing_key":@}', 'x') }],
  createSigner: [
    { name: 'a long key', text: textIn('{"type":"plain","config":{"key":@}}', '1') },
    { name: 'a long list', text: textIn('{"type":"plain","config":{"key":@}}', '1, ') },
  ],
  updateNetwork: [urls('')],
}

/** The most values that the service reads in a body. */
const MOST_VALUES = 20_000

/** Returns the bodies for an operation; with `anywhere`, also those that do not depend on it. Lists are full, and as long as they may be. */
export function worstBodiesOf(
  operation: OperationId,
  anywhere: boolean,
): { readonly name: string; readonly text: string }[] {
  return [...(anywhere ? ANYWHERE : []), ...(WORST_BODIES[operation] ?? [])].flatMap(({ name, text }) =>
    typeof text === 'string'
      ? [{ name, text }]
      : [
          { name: `${name}, full`, text: text(Number.POSITIVE_INFINITY) },
          { name: `${name}, within the limit`, text: text(MOST_VALUES) },
        ],
  )
}

/** As many types and fields as the contract takes, each of which refers to the others. */
function mesh() {
  const names = Array.from({ length: 32 }, (_, index) => `T${index}${'x'.repeat(60)}`)
  const fields = Array.from({ length: 64 }, (_, index) => ({ name: `f${index}`, type: names[index % 32] }))
  return {
    domain: {},
    types: Object.fromEntries(names.map((name) => [name, fields])),
    primaryType: names[0],
    message: {},
  }
}

/** As many calls as a batch takes, each with a document of thousands of empty structs. */
function documentsInBatch(): string {
  const types = { M: [{ name: 'a', type: 'E[]' }], E: [] }
  const message = { a: Array.from({ length: 4_000 }, () => ({})) }
  const document = JSON.stringify({ domain: {}, types, primaryType: 'M', message })
  return JSON.stringify(
    Array.from({ length: 50 }, (_, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'eth_signTypedData_v4',
      params: [WALLET, document],
    })),
  )
}

/** A list of ten thousand values, which real documents have. */
function tenThousand(type: string, item: object): string {
  return JSON.stringify({
    domain: { name: 'List' },
    types: {
      M: [{ name: 'a', type }],
      E: [
        { name: 's', type: 'string' },
        { name: 'u', type: 'uint256' },
      ],
    },
    primaryType: 'M',
    message: { a: Array.from({ length: 5_000 }, () => item) },
  })
}
