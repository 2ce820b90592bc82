package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// kind is a kind of object that a workspace keeps: a struct with an ID. It stands in the file of its surface, with its handlers.
type kind[T any] struct {
	name    string                                       // of its seeds in JSON
	missing refusal                                      // of an unknown id
	seeds   func(*Workspace) *[]T                        // their field
	check   func(whole *Workspace, seed T, fail failing) // optional
	hidden  func(object *T) bool                         // optional: it responds like a missing one
	fill    func(ws *workspace, object *T)               // optional: what a seed leaves open
	gone    func(ws *workspace, id string)               // optional: nothing refers to a removed one any more
}

// beginner is an object that begins at the first use, or when it is made or changed: it sets the times that a seed leaves open, and
// schedules events.
type beginner interface {
	begin(ws *workspace, created, now time.Time)
}

// keeper is a kind of any objects.
type keeper interface {
	validate(seed *Workspace, fail failing)
	load(ws *workspace, seed *Workspace)
	start(ws *workspace, now time.Time)
	save(ws *workspace, out *Workspace)
	put(tx *Tx, fields json.RawMessage) (id string)
	remove(ws *workspace, id string) error
}

// kinds are all, by their names.
var kinds = map[string]keeper{}

// kindNames has the lists first, because other objects refer to them.
func kindNames() []string {
	return slices.Insert(slices.DeleteFunc(slices.Sorted(maps.Keys(kinds)), func(name string) bool { return name == lists.name }), 0, lists.name)
}

// keeps makes every workspace keep objects of a kind.
func keeps[T any](k kind[T]) *kind[T] {
	kinds[k.name] = &k
	return &k
}

// in are the objects of a workspace, oldest first.
func (k *kind[T]) in(ws *workspace) []*T {
	objects, _ := ws.objects[k].([]*T)
	return objects
}

// find is the object with an id, whatever its case, or nil.
func (k *kind[T]) find(ws *workspace, id string) *T {
	return find(k.in(ws), func(object *T) bool { return sameID(idOf(object), id) })
}

// byID is the object with an id, or the refusal that says that there is none.
func (k *kind[T]) byID(c *call, id string) (*T, error) {
	object := k.find(c.ws, id)
	if object == nil || k.hidden != nil && k.hidden(object) {
		return nil, &k.missing
	}
	return object, nil
}

// of is the object that a parameter of the path names.
func (k *kind[T]) of(c *call, parameter string) *T {
	return must(k.byID(c, c.req.PathValue(parameter)))
}

func (k *kind[T]) add(ws *workspace, seed T) *T {
	object := copied(seed)
	k.complete(ws, &object)
	ws.objects[k] = append(k.in(ws), &object)
	return &object
}

// complete fills in what a seed leaves open.
func (k *kind[T]) complete(ws *workspace, object *T) {
	eachID(object, func(_ string, id *string) { ws.fill(id) })
	if k.fill != nil {
		k.fill(ws, object)
	}
}

// remove removes the object with an id, and empties it: nothing happens to it any more.
func (k *kind[T]) remove(ws *workspace, id string) error {
	object := k.find(ws, id)
	if object == nil {
		return k.none(id)
	}
	ws.objects[k] = slices.DeleteFunc(k.in(ws), func(other *T) bool { return other == object })
	if k.gone != nil {
		k.gone(ws, id)
	}
	*object = *new(T)
	return nil
}

// create adds an object for a teammate. Its id, if it has one, must be new.
func (k *kind[T]) create(tx *Tx, what string, seed T) (id string) {
	return k.store(tx, what, idOf(&seed), func(object *T) error {
		if idOf(object) != "" {
			return errors.New("the id is taken")
		}
		*object = seed
		return nil
	})
}

// put changes fields of an object for a teammate, or adds one.
func (k *kind[T]) put(tx *Tx, given json.RawMessage) (id string) {
	var named T
	if err := patch(&named, given); err != nil {
		tx.sb.misuse("Tx.Put: %v", err)
		return ""
	}
	return k.store(tx, "Put", idOf(&named), func(object *T) error { return patch(object, given) })
}

// patch replaces the fields of an object that are given, whatever the case of their names. What it replaces is shared with others, and
// stays as it is.
func patch[T any](object *T, given json.RawMessage) error {
	var names fields
	var sent T
	dec := json.NewDecoder(bytes.NewReader(given))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&sent); err != nil {
		return err
	}
	stop(json.Unmarshal(given, &names)) // it is an object
	from, to := reflect.ValueOf(sent), reflect.ValueOf(object).Elem()
	for i := range to.NumField() {
		name, _, _ := strings.Cut(to.Type().Field(i).Tag.Get("json"), ",")
		for given := range names {
			if strings.EqualFold(given, name) {
				to.Field(i).Set(from.Field(i))
			}
		}
	}
	return nil
}

// store makes an object of what is there, which has the id or is new and empty, and keeps it if it is valid.
func (k *kind[T]) store(tx *Tx, what, wanted string, apply func(*T) error) (id string) {
	tx.do(what, func(now time.Time) error {
		old, next := k.find(tx.ws, wanted), *new(T)
		if old != nil {
			next = copied(*old)
		}
		if err := apply(&next); err != nil {
			return err
		}
		err := tx.valid(func(whole *Workspace) {
			seeds := k.seeds(whole)
			if i := slices.Index(k.in(tx.ws), old); i >= 0 {
				(*seeds)[i] = next
			} else {
				*seeds = append(*seeds, next)
			}
		})
		if err != nil {
			return err
		}
		eachID(&next, func(_ string, id *string) { tx.ws.seen(*id) })
		if old == nil {
			old = k.add(tx.ws, next)
		} else {
			reflect.ValueOf(&next).Elem().FieldByName("ID").SetString(idOf(old)) // in its case
			k.complete(tx.ws, &next)
			*old = next
		}
		if b, begins := any(old).(beginner); begins {
			b.begin(tx.ws, now, now)
		}
		id = idOf(old)
		return nil
	})
	return id
}

// change makes a change of a teammate to the object with an id.
func (k *kind[T]) change(tx *Tx, what, id string, apply func(object *T, now time.Time) error) {
	tx.do(what, func(now time.Time) error {
		object := k.find(tx.ws, id)
		if object == nil {
			return k.none(id)
		}
		return apply(object, now)
	})
}

func (k *kind[T]) none(id string) error {
	return fmt.Errorf("none of the %s has the id %q", k.name, id)
}

// copies are the objects for a test, oldest first.
func (k *kind[T]) copies(w *Tenant) []T {
	return inspect(w, func(ws *workspace) []T { return appendEach([]T{}, k.in(ws), copyOf) })
}

func (k *kind[T]) validate(seed *Workspace, fail failing) {
	if k.check == nil {
		return
	}
	for _, object := range *k.seeds(seed) {
		k.check(seed, object, fail)
	}
}

func (k *kind[T]) load(ws *workspace, seed *Workspace) {
	for _, object := range *k.seeds(seed) {
		k.add(ws, object)
	}
}

// start begins the objects of a seed, at the first use. Those that do not say when they were created were so one second after the other.
func (k *kind[T]) start(ws *workspace, now time.Time) {
	for i, object := range k.in(ws) {
		if b, begins := any(object).(beginner); begins {
			b.begin(ws, now.Add(time.Duration(i-len(k.in(ws)))*time.Second), now)
		}
	}
}

func (k *kind[T]) save(ws *workspace, out *Workspace) {
	*k.seeds(out) = appendEach(nil, k.in(ws), copyOf)
}

func idOf[T any](object *T) string { return reflect.ValueOf(object).Elem().FieldByName("ID").String() }

func copyOf[T any](object *T) T { return copied(*object) }

// eachID visits the fields that are called ID, at any depth, and says of which type they are.
func eachID(objects any, visit func(of string, id *string)) {
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch {
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				switch field := v.Type().Field(i); {
				case field.Name == "ID":
					visit(v.Type().Name(), v.Field(i).Addr().Interface().(*string))
				case field.IsExported():
					walk(v.Field(i))
				}
			}
		}
	}
	walk(reflect.ValueOf(objects).Elem())
}

// copied is a copy that shares nothing but bytes, which are replaced and never changed.
func copied[T any](object T) T {
	detach(reflect.ValueOf(&object).Elem())
	return object
}

func detach(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // nothing else is shared
	case reflect.Struct:
		for i := range v.NumField() { //nolint:modernize // v.Fields allocates
			if field := v.Field(i); field.CanSet() {
				detach(field)
			}
		}
	case reflect.Slice:
		element := v.Type().Elem()
		if v.IsNil() || element.Kind() == reflect.Uint8 {
			return
		}
		elements := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(elements, v)
		v.Set(elements)
		if element.Kind() == reflect.Slice && element.Elem().Kind() == reflect.Uint8 {
			return // there may be a million
		}
		for i := range elements.Len() {
			detach(elements.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		entries := reflect.MakeMapWithSize(v.Type(), v.Len())
		for key, value := range v.Seq2() {
			entries.SetMapIndex(key, value)
		}
		v.Set(entries)
	}
}
