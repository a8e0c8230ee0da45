/** Names that the rule below would make equal to another one, or that say too little or too much. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  decideTransactions: 'decideMany',
  getHealth: 'get',
  getTransactionById: 'get',
  listAuditEntries: 'list',
  metricDetail: 'get',
  redeliverDeliveries: 'redeliverAll',
}

/**
 * Names the method of a resource after its operation, without the words that the resource says already: `listTransactions` of `transactions` is
 * `list`, and `getTransactionByNonce` is `getByNonce`.
 */
export function methodName(operationId: string, tag: string): string {
  const plural = upperFirst(resourceName(tag))
  const singular = plural.replace(/ies$/, 'y').replace(/s$/, '')
  return EXCEPTIONS[operationId] ?? operationId.replace(plural, '').replace(singular, '')
}

/** Names a resource after its tag: `API keys` is `apiKeys`. */
export function resourceName(tag: string): string {
  return camelCase(tag.toLowerCase().split(' '))
}

/** Names an argument after its parameter: `relayer_id` is `relayerId`. */
export function argumentName(parameter: string): string {
  return camelCase(parameter.split('_'))
}

function camelCase([first = '', ...others]: readonly string[]): string {
  return [first, ...others.map(upperFirst)].join('')
}

function upperFirst(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
