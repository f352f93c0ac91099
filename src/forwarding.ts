/** An object that is another one, found anew at every use; so are its functions and objects, however early they are taken. */

/** @param find - called at each use; always finds something of the same shape */
export function forwarding<T extends object>(find: () => T): T {
  return forward(find, undefined) as T;
}

/** @param owner - what a function is called on: the methods of a class need the object itself */
function forward(find: () => object, owner: (() => object) | undefined): object {
  const known = new Map<PropertyKey, object>();
  const member = (key: PropertyKey): unknown => {
    const value: unknown = Reflect.get(find(), key);
    if ((typeof value !== "object" && typeof value !== "function") || value === null) return value;
    const made = known.get(key) ?? forward(() => Reflect.get(find(), key) as object, find);
    known.set(key, made);
    return made;
  };
  // An empty target: a proxy may not hide what is frozen on its target.
  return new Proxy(typeof find() === "function" ? () => undefined : {}, {
    get: (_, key) => member(key),
    has: (_, key) => Reflect.has(find(), key),
    apply: (_, __, args) => Reflect.apply(find() as () => unknown, owner?.(), args),
    ownKeys: () => Reflect.ownKeys(find()),
    getOwnPropertyDescriptor: (_, key) => {
      const described = Reflect.getOwnPropertyDescriptor(find(), key);
      return (
        described && {
          value: member(key),
          writable: false,
          enumerable: described.enumerable === true,
          configurable: true,
        }
      );
    },
  });
}
