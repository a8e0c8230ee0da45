// Two files of node-postgres that its types omit. The whole package would take 50 ms of the start and 10 MB.

declare module 'pg/lib/utils.js' {
  const utils: {
    /** Returns the text form of a parameter, or the bytes of a `bytea`; null for no value. */
    prepareValue(value: unknown): string | Buffer | null
  }
  export = utils
}

declare module 'pg/lib/type-overrides.js' {
  import type { CustomTypesConfig } from 'pg'

  class TypeOverrides implements CustomTypesConfig {
    readonly getTypeParser: CustomTypesConfig['getTypeParser']
    /** Reads the text form of the type's values in another way. */
    setTypeParser(oid: number, parse: (text: string) => unknown): void
  }
  export = TypeOverrides
}
