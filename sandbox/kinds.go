package sandbox

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// kind is a kind of object that a workspace keeps: a struct with an ID. It stands in the file of its surface, with its handlers. Its seeds are
// those in a field of [Workspace], or else in More, under its name.
type kind[T any] struct {
	name    string
	missing refusal                       // of an unknown id
	seeds   func(*Workspace) *[]T         // the field, if there is one
	check   func(seed T, fail failing)    // optional
	whole   func(seeds []T, fail failing) // optional: of all together
	hidden  func(object *T) bool          // optional: it responds like a missing one
	fill    func(object *T)               // optional: what a seed leaves open
}

// beginner is an object that begins at the first use, or when it is made: it sets the times that a seed leaves open, and schedules events.
type beginner interface {
	begin(ws *workspace, created, now time.Time)
}

// keeper is a kind of any objects.
type keeper interface {
	validate(seed Workspace, fail failing)
	eachID(seed Workspace, visit func(of string, id *string))
	load(ws *workspace, seed Workspace)
	start(ws *workspace, now time.Time)
	save(ws *workspace, out *Workspace)
	put(ws *workspace, fields json.RawMessage, now time.Time) (id string, err error)
}

// kinds are all, by their names.
var kinds = map[string]keeper{}

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

// of is the object that a parameter of the path names, if nothing is wrong with the query and the body.
func (k *kind[T]) of(c *call, parameter string) *T { return must(k.byID(c, c.pathID(parameter))) }

func (k *kind[T]) add(ws *workspace, seed T) *T {
	object := copied(seed)
	if k.fill != nil {
		k.fill(&object)
	}
	eachID(&object, func(_ string, id *string) { ws.fill(id) })
	ws.objects[k] = append(k.in(ws), &object)
	return &object
}

// remove removes the object with an id, if there is one.
func (k *kind[T]) remove(ws *workspace, id string) {
	ws.objects[k] = slices.DeleteFunc(k.in(ws), func(object *T) bool { return sameID(idOf(object), id) })
}

// create adds an object for a teammate, if its seed is valid and its ids are new.
func (k *kind[T]) create(tx *Tx, what string, seed T) (id string) {
	alone := inspect(&Tenant{tx.sb, tx.ws}, func(ws *workspace) Workspace { // with the lists, which it may name
		return Workspace{Lists: appendEach(nil, ws.lists, func(l *list) List { return List{ID: l.ID, Name: l.ID} })}
	})
	*k.seeds(&alone) = []T{seed}
	if !tx.valid(what, alone) {
		return ""
	}
	tx.change(what, func(now time.Time) bool {
		taken, known := map[string]bool{}, false
		for _, object := range k.in(tx.ws) {
			eachID(object, func(of string, id *string) { taken[of+strings.ToLower(*id)] = true })
		}
		eachID(&seed, func(of string, id *string) { known = known || taken[of+strings.ToLower(*id)] })
		if !known {
			id = k.make(tx.ws, seed, now)
		}
		return !known
	})
	return id
}

// change makes a change of a teammate to an object, if there is one with the id and apply can.
func (k *kind[T]) change(tx *Tx, what, id string, apply func(object *T, now time.Time) bool) {
	tx.change(what, func(now time.Time) bool {
		object := k.find(tx.ws, id)
		return object != nil && apply(object, now)
	})
}

// make adds an object after the first use, and returns its id.
func (k *kind[T]) make(ws *workspace, seed T, now time.Time) string {
	eachID(&seed, func(_ string, id *string) { ws.seen(*id) })
	object := k.add(ws, seed)
	if b, begins := any(object).(beginner); begins {
		b.begin(ws, now, now)
	}
	return idOf(object)
}

// copies are the objects for a test, oldest first.
func (k *kind[T]) copies(w *Tenant) []T {
	return inspect(w, func(ws *workspace) []T { return appendEach([]T{}, k.in(ws), copyOf) })
}

// read are the seeds of a workspace.
func (k *kind[T]) read(seed *Workspace) (objects []T, err error) {
	switch raw, more := seed.More[k.name]; {
	case k.seeds != nil:
		return *k.seeds(seed), nil
	case more:
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		err = dec.Decode(&objects)
	}
	return objects, err
}

func (k *kind[T]) validate(seed Workspace, fail failing) {
	objects, err := k.read(&seed)
	if err != nil {
		fail("%s: %v", k.name, err)
	}
	for _, object := range objects {
		if k.check != nil {
			k.check(object, fail)
		}
	}
	if k.whole != nil {
		k.whole(objects, fail)
	}
	claim := claims(fail)
	eachID(&objects, func(of string, id *string) { claim(of, *id) })
}

func (k *kind[T]) eachID(seed Workspace, visit func(of string, id *string)) {
	objects, _ := k.read(&seed) // it is valid
	eachID(&objects, visit)
}

// load adds the objects of a seed, once.
func (k *kind[T]) load(ws *workspace, seed Workspace) {
	if _, loaded := ws.objects[k]; loaded {
		return
	}
	ws.objects[k] = []*T(nil)
	objects, _ := k.read(&seed)
	for _, object := range objects {
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
	objects := appendEach(nil, k.in(ws), copyOf)
	switch {
	case k.seeds != nil:
		*k.seeds(out) = objects
	case len(objects) > 0:
		if out.More == nil {
			out.More = map[string]json.RawMessage{}
		}
		out.More[k.name] = must(json.Marshal(objects))
	}
}

// put replaces fields of an object, or adds one.
func (k *kind[T]) put(ws *workspace, fields json.RawMessage, now time.Time) (id string, err error) {
	var seed T
	if err := json.Unmarshal(fields, &seed); err != nil {
		return "", err
	}
	object := k.find(ws, idOf(&seed))
	if object != nil {
		return idOf(object), json.Unmarshal(fields, object)
	}
	return k.make(ws, seed, now), nil
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
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		elements := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(elements, v)
		for i := range elements.Len() {
			detach(elements.Index(i))
		}
		v.Set(elements)
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
