declare const meaning: unique symbol

/**
 * A value whose type says what it means, so that the compiler refuses another number in its place. It is the plain value at run time; what
 * arithmetic returns is plain again, and gets a meaning where it is computed.
 */
export type Branded<T, Meaning extends string> = T & { readonly [meaning]: Meaning }
